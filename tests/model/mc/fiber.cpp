#include "tests/model/mc/fiber.hpp"

#include <cxxabi.h>

#include <cstring>

#if !defined(__x86_64__)
#error "the permutation tester switches stacks by x86-64 instructions"
#endif

// Pushes the callee-saved registers and exchanges the stacks.
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
  // The stack looks as if entry had been called: its pointer is then 8 beyond a multiple of 16.
  auto top = (reinterpret_cast<std::uintptr_t>(stack) + size) & ~std::uintptr_t{15};
  auto* words = reinterpret_cast<void**>(top);
  *--words = nullptr;  // entry's return address; never used
  *--words = reinterpret_cast<void*>(entry);
  for (int i = 0; i < 6; ++i) *--words = nullptr;  // the callee-saved registers
  return {words};
}

}  // namespace mc
