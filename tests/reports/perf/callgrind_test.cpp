#include "reports/perf/callgrind_profile.hpp"

#include <gtest/gtest.h>

#include <string>

namespace taskbench::reports::perf {
namespace {

// Output of callgrind 3.19, shortened.
constexpr std::string_view kCallgrindOutput =
    "# callgrind format\n"
    "version: 1\n"
    "creator: callgrind-3.19.0\n"
    "pid: 4242\n"
    "cmd:  build/release/cli/taskbench run chained_spawn\n"
    "part: 1\n"
    "\n"
    "desc: I1 cache: \n"
    "desc: Timerange: Basic block 12 - 3456\n"
    "desc: Trigger: Program termination\n"
    "\n"
    "positions: line\n"
    "events: Ir\n"
    "summary: 65004\n"
    "\n"
    "\n"
    "ob=(2) /build/release/cli/taskbench\n"
    "fl=(1) ???\n"
    "fn=(3) taskbench_iteration\n"
    "0 12\n"
    "totals: 65004\n";

TEST(Callgrind, the_total_is_the_last_lines) {
  EXPECT_EQ(callgrind_instructions(kCallgrindOutput), 65004U);
}

TEST(Callgrind, of_several_events_the_first_are_the_instructions) {
  std::string text(kCallgrindOutput);
  text.replace(text.find("events: Ir"), 10, "events: Ir Dr Dw");
  text.replace(text.find("totals: 65004"), 13, "totals: 65004 7 8");
  EXPECT_EQ(callgrind_instructions(text), 65004U);
}

TEST(Callgrind, what_was_cut_off_or_is_something_else_gives_nothing) {
  for (std::size_t length = 0; length < kCallgrindOutput.size(); ++length) {
    EXPECT_FALSE(callgrind_instructions(kCallgrindOutput.substr(0, length))) << length;
  }
  EXPECT_FALSE(callgrind_instructions("totals: 12\n"));
  EXPECT_FALSE(callgrind_instructions("events: Cycles\ntotals: 12\n"));
  EXPECT_FALSE(callgrind_instructions("events: Ir\ntotals: 0\n")) << "the function was never there";
  EXPECT_FALSE(callgrind_instructions("events: Ir\ntotals: 12x\n"));
  EXPECT_FALSE(callgrind_instructions("events: Ir\ntotals: 99999999999999999999999\n"));
  EXPECT_FALSE(callgrind_instructions("events: Ir\ntotals: -5\n"));
}

}  // namespace
}  // namespace taskbench::reports::perf
