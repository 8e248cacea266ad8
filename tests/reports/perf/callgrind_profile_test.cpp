#include "reports/perf/callgrind_profile.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace taskbench::reports::perf {
namespace {

// Output of callgrind 3.19 with kCallgrindFormat, shortened.
constexpr std::string_view kProfile =
    "# callgrind format\n"
    "version: 1\n"
    "creator: callgrind-3.19.0\n"
    "cmd:  ./bench --benchmark_filter=^(BM_x)$\n"
    "part: 4\n"
    "\n"
    "desc: I1 cache: \n"
    "desc: Trigger: --dump-before=benchmark::State::FinishKeepRunning()\n"
    "\n"
    "positions: instr line\n"
    "events: Ir\n"
    "summary: 130\n"
    "\n"
    "ob=/usr/lib/libstdc++.so.6\n"
    "fl=???\n"
    "fn=operator new(unsigned long)\n"
    "0xa957b 0 5\n"
    "cob=/usr/lib/libc.so.6\n"
    "cfi=./malloc/malloc.c\n"
    "cfn=malloc@@GLIBC_2.2.5\n"
    "calls=2 0x98930 3281 \n"
    "0xa9580 0 60\n"
    "\n"
    "ob=/home/bench\n"
    "fl=/home/bench.cpp\n"
    "fn=sort(int*)::{lambda(int, int)#1}::operator()(int, int) const'2\n"
    "0x1431 12 1\n"
    "fi=/home/queue.hpp\n"
    "0x1434 950 64\n"
    "fe=/home/bench.cpp\n"
    "cfn=f()::'lambda'(int)::g'lambda'\n"
    "calls=1 0x1500 20 \n"
    "0x1438 13 8\n"
    "totals: 130\n";

CallgrindProfile profile_of(std::string_view text) { return parse_callgrind(text).value(); }

TEST(CallgrindProfile, of_another_process_is_added_by_its_names) {
  CallgrindProfile sum = profile_of(
      "events: Ir\nob=/bin/sh\nfl=sh.c\nfn=main\n0x1 7 10\n"
      "ob=/usr/lib/libc.so.6\nfl=???\nfn=malloc\n0x2 0 5\ntotals: 15\n");
  const CallgrindProfile other = profile_of(kProfile);
  add(other, sum);
  EXPECT_EQ(sum.instructions, 145U);
  ASSERT_EQ(sum.costs.size(), 2 + other.costs.size());
  for (std::size_t i = 0; i < other.costs.size(); ++i) {
    const auto& added = sum.costs[2 + i];
    const auto& cost = other.costs[i];
    EXPECT_EQ(sum.names[added.object], other.names[cost.object]);
    EXPECT_EQ(sum.names[added.function], other.names[cost.function]);
    EXPECT_EQ(sum.names[added.file], other.names[cost.file]);
    EXPECT_EQ(added.address, cost.address);
    EXPECT_EQ(added.instructions, cost.instructions);
  }
  ASSERT_EQ(sum.calls.size(), other.calls.size());
  for (std::size_t i = 0; i < other.calls.size(); ++i) {
    EXPECT_EQ(sum.names[sum.calls[i].callee], other.names[other.calls[i].callee]);
    EXPECT_EQ(sum.names[sum.calls[i].callee_object], other.names[other.calls[i].callee_object]);
    EXPECT_EQ(sum.calls[i].calls, other.calls[i].calls);
  }
  // A name in both profiles is a single name.
  EXPECT_EQ(std::ranges::count(sum.names, "/usr/lib/libc.so.6"), 1);
}

TEST(CallgrindProfile, has_each_cost_with_its_place) {
  const CallgrindProfile profile = profile_of(kProfile);
  EXPECT_EQ(profile.instructions, 130U);
  EXPECT_EQ(profile.trigger, "--dump-before=benchmark::State::FinishKeepRunning()");
  ASSERT_EQ(profile.costs.size(), 3U);
  const auto& inlined = profile.costs[2];
  EXPECT_EQ(profile.names[inlined.object], "/home/bench");
  EXPECT_EQ(profile.names[inlined.file], "/home/queue.hpp");
  EXPECT_EQ(profile.names[profile.sources.at(inlined.function)], "/home/bench.cpp");
  EXPECT_EQ(inlined.address, 0x1434U);
  EXPECT_EQ(inlined.line, 950);
  EXPECT_EQ(inlined.instructions, 64U);
}

TEST(CallgrindProfile, has_each_call_with_what_the_callee_took) {
  const CallgrindProfile profile = profile_of(kProfile);
  ASSERT_EQ(profile.calls.size(), 2U);
  const auto& first = profile.calls[0];
  EXPECT_EQ(profile.names[first.function], "operator new(unsigned long)");
  EXPECT_EQ(profile.names[first.callee], "malloc");
  EXPECT_EQ(profile.names[first.callee_object], "/usr/lib/libc.so.6");
  EXPECT_EQ(first.calls, 2U);
  EXPECT_EQ(first.instructions, 60U);
  const auto& second = profile.calls[1];
  EXPECT_EQ(profile.names[second.callee_object], "/home/bench") << "named by ob, not by cob";
  EXPECT_EQ(second.address, 0x1438U);
}

TEST(CallgrindProfile, functions_are_named_without_recursion_and_version) {
  const CallgrindProfile profile = profile_of(kProfile);
  EXPECT_EQ(profile.names[profile.costs[1].function],
            "sort(int*)::{lambda(int, int)#1}::operator()(int, int) const");
  EXPECT_EQ(profile.names[profile.calls[1].callee], "f()::'lambda'(int)::g'lambda'");
}

TEST(CallgrindProfile, what_was_cut_off_or_is_something_else_gives_nothing) {
  for (std::size_t length = 0; length < kProfile.size(); ++length) {
    EXPECT_FALSE(parse_callgrind(kProfile.substr(0, length))) << length;
  }
  EXPECT_TRUE(parse_callgrind("events: Ir\ntotals: 4000\n"));
  EXPECT_FALSE(parse_callgrind("events: Cycles\ntotals: 4000\n"));
  EXPECT_FALSE(parse_callgrind("totals: 4000\n"));
  EXPECT_FALSE(parse_callgrind("events: Ir\n0x12 ab 5\ntotals: 4000\n"));
  EXPECT_FALSE(parse_callgrind("events: Ir\n0x12 5\ntotals: 4000\n"));
  EXPECT_FALSE(parse_callgrind("events: Ir\ncalls=x\ntotals: 4000\n"));
  EXPECT_FALSE(parse_callgrind("events: Ir\nwhat is this\ntotals: 4000\n"));
}

}  // namespace
}  // namespace taskbench::reports::perf
