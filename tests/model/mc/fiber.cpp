#include "tests/model/mc/fiber.hpp"

#include <cxxabi.h>

#include <cstring>

// Pushes the callee-saved registers and exchanges the stacks.
#if defined(__x86_64__)
asm(R"(
.text
.globl mc_exchange_stacks
.type mc_exchange_stacks, @function
mc_exchange_stacks:
  endbr64
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size mc_exchange_stacks, .-mc_exchange_stacks
)");
#elif defined(__aarch64__)
// A new stack returns to mc_begin_stack, which calls what is in x19. Nobody has called that: the
// unwinder stops there. `hint #34` is `bti c`, by a name that each assembler knows.
asm(R"(
.text
.globl mc_exchange_stacks
.type mc_exchange_stacks, %function
mc_exchange_stacks:
  hint #34
  stp x29, x30, [sp, #-160]!
  stp x19, x20, [sp, #16]
  stp x21, x22, [sp, #32]
  stp x23, x24, [sp, #48]
  stp x25, x26, [sp, #64]
  stp x27, x28, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #16]
  ldp x21, x22, [sp, #32]
  ldp x23, x24, [sp, #48]
  ldp x25, x26, [sp, #64]
  ldp x27, x28, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  ldp x29, x30, [sp], #160
  ret
.size mc_exchange_stacks, .-mc_exchange_stacks
.globl mc_begin_stack
.type mc_begin_stack, %function
mc_begin_stack:
  mov x16, x19
  mov x30, xzr
  br x16
.size mc_begin_stack, .-mc_begin_stack
)");

extern "C" void mc_begin_stack();
#else
#error "the permutation tester switches stacks by instructions of x86-64 or arm64"
#endif

extern "C" void mc_exchange_stacks(void** from, void* to);

namespace mc {
namespace {

/// The layout of the C++ ABI's __cxa_eh_globals: the caught exceptions, and the number of uncaught
/// ones.
struct ExceptionGlobals {
  void* caught;
  unsigned uncaught;
};

}  // namespace

void switch_to(Context& from, const Context& to) {
  auto* globals = reinterpret_cast<ExceptionGlobals*>(abi::__cxa_get_globals());
  const ExceptionGlobals saved = *globals;
  *globals = {};
  mc_exchange_stacks(&from.stack_pointer, to.stack_pointer);
  *globals = saved;
}

Context make_context(std::byte* stack, std::size_t size, void (*entry)()) {
  auto top = (reinterpret_cast<std::uintptr_t>(stack) + size) & ~std::uintptr_t{15};
  auto* words = reinterpret_cast<void**>(top);
#if defined(__x86_64__)
  // The stack looks as if entry had been called: its pointer is then 8 beyond a multiple of 16.
  *--words = nullptr;  // entry's return address; never used
  *--words = reinterpret_cast<void*>(entry);
  for (int i = 0; i < 6; ++i) *--words = nullptr;  // the callee-saved registers
#else
  for (int i = 0; i < 20; ++i) *--words = nullptr;     // the callee-saved registers, x29 to d15
  words[1] = reinterpret_cast<void*>(mc_begin_stack);  // x30: where the exchange returns to
  words[2] = reinterpret_cast<void*>(entry);           // x19
#endif
  return {words};
}

}  // namespace mc
