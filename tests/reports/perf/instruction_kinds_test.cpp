#include "reports/perf/instruction_kinds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace taskbench::reports::perf {
namespace {

/// The kind of an instruction in a function; empty if it has none.
std::string kind_of(std::string_view text, std::string_view function = "f()") {
  for (const InstructionKind& kind : instruction_kinds()) {
    if (kind.is_instruction != nullptr && kind.is_instruction(text, function)) {
      return std::string(kind.name);
    }
  }
  return {};
}

bool is_allocation(std::string_view caller, std::string_view callee) {
  return std::ranges::any_of(instruction_kinds(), [&](const InstructionKind& kind) {
    return kind.is_call != nullptr && kind.is_call(caller, callee);
  });
}

TEST(InstructionKinds, instructions_are_recognised_as_objdump_prints_them) {
  const std::vector<std::pair<const char*, const char*>> expected{
      {"mfence", "fences"},
      {"lfence", "fences"},
      {"sfence", "fences"},
      {"lock orq $0x0,(%rsp)", "fences"},
      {"lock orl $0x0,(%rsp)", "fences"},
      {"lock addl $0x0,-0x40(%rsp)", "fences"},
      {"lock addl $0x1,(%rsp)", "locked-instructions"},
      {"lock orl $0x0,(%rdi)", "locked-instructions"},
      {"lock addl $0x1,0x26f4(%rip)        # 40ac <a>", "locked-instructions"},
      {"lock cmpxchg %edx,(%rdi)", "locked-instructions"},
      {"xacquire lock decl (%rax)", "locked-instructions"},
      {"xchg %eax,0x10(%rdi)", "locked-instructions"},
      {"xchg %ax,%ax", ""},
      {"xchg %rdi,%rsi", ""},
      {"idivl  0xc(%rbp)", "divisions"},
      {"div %rcx", "divisions"},
      {"divsd %xmm1,%xmm0", ""},
      {"vdivps %ymm1,%ymm0,%ymm0", ""},
      {"syscall", "system-calls"},
      {"sysenter", ""},
      {"mov %rax,(%rsp)", ""},
      {"call 860b0 <pthread_mutex_lock@plt>", ""},
      {"add $0x0,(%rsp)", ""},
  };
  for (const auto& [text, kind] : expected) EXPECT_EQ(kind_of(text), kind) << text;
}

TEST(InstructionKinds, reading_a_clock_is_no_system_call_though_valgrind_makes_it_one) {
  EXPECT_EQ(kind_of("syscall", "clock_gettime"), "");
  EXPECT_EQ(kind_of("syscall", "write"), "system-calls");
}

TEST(InstructionKinds, an_allocation_counts_once_however_many_functions_it_goes_through) {
  EXPECT_TRUE(is_allocation("f()", "malloc"));
  EXPECT_TRUE(is_allocation("f()", "operator new[](unsigned long)"));
  EXPECT_FALSE(is_allocation("operator new[](unsigned long)", "operator new(unsigned long)"));
  EXPECT_FALSE(is_allocation("operator new(unsigned long)", "malloc"));
  EXPECT_FALSE(is_allocation("f()", "free"));
  EXPECT_FALSE(is_allocation("f()", "operator delete(void*)"));
  EXPECT_FALSE(is_allocation("f()", "malloc_usable_size"));
}

TEST(InstructionKinds, a_disassembly_keeps_what_may_be_of_a_kind) {
  const Disassembly read = parse_objdump(
      "\n/home/bench:     file format elf64-x86-64\n\n"
      "0000000000001990 <_Z4slowv>:\n"
      "    19a5:\tlock orq $0x0,(%rsp)\n"
      "    19ab:\tadd    $0x4,%rax\n"
      "    19b0:\txchg   %ax,%ax\n"
      "    19c3:\tidivl  0xc(%rbp)\n"
      "    19d0:\tsyscall \n"
      "\t...\n"
      "    zzzz:\tmfence\n");
  ASSERT_EQ(read.size(), 3U);
  EXPECT_EQ(read.at(0x19a5), "lock orq $0x0,(%rsp)");
  EXPECT_EQ(read.at(0x19d0), "syscall");
}

TEST(InstructionKinds, what_was_executed_is_counted_object_by_object) {
  const CallgrindProfile profile = parse_callgrind(
                                       "events: Ir\n"
                                       "ob=/home/bench\nfl=a.cpp\nfn=f()\n"
                                       "0x19a5 4 999\n"
                                       "0x19ab 4 1998\n"
                                       "0x19c3 5 3\n"
                                       "cob=/lib/libc.so.6\ncfn=malloc\n"
                                       "calls=7 0x10 1\n"
                                       "0x19d0 6 700\n"
                                       "cob=/tmp/x/taskbench-allocations.so\n"
                                       "cfn=void n::taskbench_allocated<4ul>()\n"
                                       "calls=5 0x10 1\n"
                                       "0x19d2 6 10\n"
                                       "cfn=void n::taskbench_allocated<0>()\n"
                                       "calls=2 0x12 1\n"
                                       "0x19d2 6 4\n"
                                       "cfn=g()\n"
                                       "calls=2 0x20 1\n"
                                       "0x19d5 6 20\n"
                                       "ob=/lib/libc.so.6\nfl=???\nfn=write\n"
                                       "0x19a5 0 50\n"
                                       "0x30 0 11\n"
                                       "totals: 3061\n")
                                       .value();
  const auto counts =
      count_by_kind(profile, {{"/home/bench", {{0x19a5, "mfence"}, {0x19c3, "div %rcx"}}},
                              {"/lib/libc.so.6", {{0x30, "syscall"}}}});
  const CallgrindProfile fences =
      only_of_kind(profile, {{"/home/bench", {{0x19a5, "mfence"}}}}, "fences");
  ASSERT_EQ(fences.costs.size(), 1U);
  EXPECT_EQ(fences.costs[0].instructions, 999U);
  EXPECT_EQ(fences.names[fences.costs[0].function], "f()");
  EXPECT_EQ(only_of_kind(profile, {}, "allocations").costs.front().instructions, 7U);
  EXPECT_EQ(counts, (std::map<std::string, std::uint64_t>{{"allocated-bytes", 5 * 16 + 2},
                                                          {"allocations", 7},
                                                          {"divisions", 3},
                                                          {"fences", 999},
                                                          {"locked-instructions", 0},
                                                          {"system-calls", 11}}));
}

TEST(InstructionKinds, what_shows_the_bytes_is_no_part_of_the_program) {
  CallgrindProfile profile = parse_callgrind(
                                 "events: Ir\n"
                                 "ob=/home/bench\nfl=a.cpp\nfn=f()\n"
                                 "0x19a5 4 999\n"
                                 "cob=/tmp/x/taskbench-allocations.so\ncfn=malloc\n"
                                 "calls=7 0x10 1\n"
                                 "0x19d0 6 700\n"
                                 "ob=/tmp/x/taskbench-allocations.so\nfl=???\nfn=malloc\n"
                                 "0x10 0 50\n"
                                 "totals: 1049\n")
                                 .value();
  leave_out_marks(profile);
  EXPECT_EQ(profile.instructions, 999U);
  EXPECT_EQ(profile.costs.size(), 1U);
  const auto counts = count_by_kind(profile, {});
  EXPECT_EQ(counts.at("allocations"), 7U);
  EXPECT_FALSE(counts.contains("allocated-bytes")) << "nobody has seen those of 7 allocations";
}

}  // namespace
}  // namespace taskbench::reports::perf
