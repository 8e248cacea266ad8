#include "reports/perf/script.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace taskbench::reports::perf {
namespace {

using Stack = std::vector<std::string>;

// Output of perf 6.1.
constexpr std::string_view kScriptOutput =
    "taskbench-wor-1 27443 \n"
    "\t          18d408 taskbench::rt::task::poll\n"
    "\t           d44a3 [unknown]\n"
    "\t           d44a4 [unknown]\n"
    "\t          1098eb clone3\n"
    "\n"
    "taskbench-wor-0 27442 \n"
    "\t          18d408 taskbench::rt::task::poll\n"
    "\t           d44a3 [unknown]\n"
    "\t          1098eb clone3\n"
    "\n"
    "taskbench 27440 \n"
    "\tffffffff8158c0bc schedule\n"
    "\t          5544b f<a;b, std::pair<c, d> >::operator()\n"
    "\n";

TEST(perf_script_test, stacks_begin_with_the_thread_and_equal_ones_are_counted) {
  const model::Profile profile = parse_perf_script(kScriptOutput);
  EXPECT_EQ(profile.samples(), 3);
  ASSERT_EQ(profile.stacks.size(), 2U);
  EXPECT_EQ(profile.stacks.at(Stack{"worker", "clone3", "[unknown]", "taskbench::rt::task::poll"}),
            2);
}

TEST(perf_script_test, frames_of_the_kernel_are_marked_and_separators_replaced) {
  const model::Profile profile = parse_perf_script(kScriptOutput);
  EXPECT_EQ(profile.stacks.count(
                Stack{"main thread", "f<a:b, std::pair<c, d> >::operator()", "schedule_[k]"}),
            1U);
}

TEST(perf_script_test, workers_are_merged_however_much_of_their_name_is_cut_for_the_number) {
  std::string text;
  for (const char* name : {"taskbench-wor-9", "taskbench-wo-10", "taskbench-w-100",
                           "taskbench--1000", "taskbench-block", "pool-7"}) {
    text += std::string(name) + " 27442 \n\t          1098eb clone3\n\n";
  }
  const model::Profile profile = parse_perf_script(text);
  EXPECT_EQ(profile.stacks.at(Stack{"worker", "clone3"}), 4);
  EXPECT_EQ(profile.stacks.count(Stack{"taskbench-block", "clone3"}), 1U);
  EXPECT_EQ(profile.stacks.count(Stack{"pool", "clone3"}), 1U);
}

TEST(perf_script_test, every_cut_of_the_output_is_read) {
  for (std::size_t length = 0; length < kScriptOutput.size(); ++length) {
    EXPECT_LE(parse_perf_script(kScriptOutput.substr(0, length)).samples(), 3);
  }
  EXPECT_EQ(parse_perf_script("# comment\n\nno stack 12\n\n").samples(), 0);
}

}  // namespace
}  // namespace taskbench::reports::perf
