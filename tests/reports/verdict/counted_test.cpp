#include "reports/verdict/counted.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reports/render/counts.hpp"
#include "tests/reports/text.hpp"

namespace taskbench::reports::verdict {
namespace {

using model::Side;
using Counts = std::vector<double>;

/// A trial of one benchmark that is counted by default.
model::PairedTrial counted(Counts base, Counts head, Counts base_fences, Counts head_fences) {
  model::PairedTrial trial;
  trial.setup.counts_first = true;
  trial.setup.benchmarks = {"sort", "hash"};
  trial.instructions = {
      {Side::base, "sort", std::move(base), "", {{"fences", std::move(base_fences)}}, ""},
      {Side::head, "sort", std::move(head), "", {{"fences", std::move(head_fences)}}, ""}};
  return trial;
}

TEST(Counted, one_process_of_each_side_is_enough_where_they_agree) {
  const auto equal = judge_counted(counted({1000}, {1000}, {3}, {3}), "sort");
  EXPECT_EQ(equal.reason, "");
  EXPECT_FALSE(equal.has_moved());
  EXPECT_TRUE(equal.instructions->exact->repeats);
  EXPECT_EQ(judge_counted(counted({1000}, {1001}, {3}, {3}), "sort").reason,
            "of base: too few counts");
}

TEST(Counted, more_of_a_kind_fails_and_more_instructions_are_only_shown) {
  const auto moved = judge_counted(counted({1000, 1000}, {1999, 1999}, {0, 0}, {999, 999}), "sort");
  EXPECT_TRUE(moved.has_moved());
  EXPECT_EQ(moved.instructions->verdict, Verdict::pass);
  EXPECT_TRUE(moved.instructions->only_shown);
  EXPECT_TRUE(moved.instructions->exact->is_worse());
  ASSERT_EQ(moved.kinds.size(), 1U);
  EXPECT_EQ(moved.kinds[0].verdict, Verdict::fail);
}

TEST(Counted, an_acknowledged_kind_passes) {
  model::PairedTrial trial = counted({1000, 1000}, {1999, 1999}, {0, 0}, {999, 999});
  trial.setup.acknowledged = {"fences"};
  EXPECT_TRUE(judge_counted(trial, "sort").kinds.at(0).acknowledged);
  EXPECT_EQ(judge_counted(trial, "sort").kinds.at(0).verdict, Verdict::pass);
}

TEST(Counted, counts_that_do_not_repeat_judge_nothing_and_say_so) {
  const auto inexact = judge_counted(counted({1000, 1000}, {1999, 2019}, {0, 0}, {9, 9}), "sort");
  EXPECT_FALSE(inexact.instructions);
  EXPECT_TRUE(inexact.kinds.empty());
  EXPECT_FALSE(inexact.has_moved());
  EXPECT_TRUE(inexact.reason.starts_with("the counts of head differ by 1 %")) << inexact.reason;
  const auto kind = judge_counted(counted({1000, 1000}, {1999, 1999}, {0, 0}, {9, 8}), "sort");
  EXPECT_TRUE(kind.instructions);
  EXPECT_TRUE(kind.kinds.empty()) << "this kind alone does not repeat";
}

/// A trial of one benchmark whose processes, base and head in turn, report these allocations.
model::PairedTrial reported(const Counts& allocations) {
  model::PairedTrial trial;
  trial.setup.benchmarks = {"sort", "hash"};
  for (std::size_t i = 0; i < allocations.size(); ++i) {
    model::ProcessSample sample;
    sample.side = i % 2 == 0 ? Side::base : Side::head;
    sample.counters["sort"] = {{"allocs/op", allocations[i]}, {"other/op", double(i)}};
    trial.samples.push_back(std::move(sample));
  }
  return trial;
}

TEST(Counted, allocations_that_a_program_reports_fail_if_there_are_more_in_all_processes) {
  const auto more = judge_own_counts(reported({2, 3, 2, 3}), "sort");
  ASSERT_EQ(more.size(), 1U);
  EXPECT_EQ(more[0].kind, "allocations");
  EXPECT_EQ(more[0].verdict, Verdict::fail);
  EXPECT_TRUE(more[0].repeats);
  const auto fewer = judge_own_counts(reported({3, 2, 3, 2}), "sort");
  EXPECT_EQ(fewer.at(0).verdict, Verdict::pass);
  EXPECT_TRUE(fewer.at(0).is_better());
  EXPECT_EQ(judge_own_counts(reported({3, 3, 3, 3}), "sort").at(0).verdict, Verdict::pass);
}

TEST(Counted, allocations_that_differ_from_process_to_process_are_not_judged) {
  EXPECT_TRUE(judge_own_counts(reported({2, 3, 2, 2}), "sort").empty());
  EXPECT_TRUE(judge_own_counts(reported({2, 3, 1, 3}), "sort").empty());
  EXPECT_TRUE(judge_own_counts(reported({2, 3}), "sort").empty()) << "one process a side";
  EXPECT_TRUE(judge_own_counts(reported({2, 3, 2, 3}), "hash").empty());
  EXPECT_TRUE(judge_own_counts(reported({-2, 3, -2, 3}), "sort").empty()) << "no count";
}

TEST(Counted, reported_allocations_that_may_grow_pass) {
  model::PairedTrial trial = reported({2, 3, 2, 3});
  trial.setup.acknowledged = {"allocations"};
  EXPECT_EQ(judge_own_counts(trial, "sort").at(0).verdict, Verdict::pass);
}

TEST(Counted, what_was_not_counted_has_no_verdict_and_what_could_not_be_a_reason) {
  model::PairedTrial trial = counted({1000}, {1000}, {3}, {3});
  EXPECT_FALSE(judge_counted(trial, "hash").instructions);
  EXPECT_EQ(judge_counted(trial, "hash").reason, "");
  trial.instructions[1] = {Side::head, "sort", {}, "no memory"};
  EXPECT_EQ(judge_counted(trial, "sort").reason, "of head: no memory");
}

TEST(Counted, the_remarks_say_what_has_grown_and_what_was_not_counted) {
  model::PairedTrial trial = counted({1000, 1000}, {1031, 1031}, {3, 3}, {3, 3});
  trial.uncounted.reason = "a fifth of the budget, 12 seconds, was used up";
  PairedReport report;
  for (const std::string& name : trial.setup.benchmarks) {
    BenchmarkVerdict& row = report.benchmarks.emplace_back();
    row.name = name;
    row.instructions = judge_counted(trial, name).instructions;
  }
  const render::Sentences remarks = render::uncounted_remarks(trial, report);
  ASSERT_EQ(remarks.size(), 2U);
  EXPECT_TRUE(remarks[0].starts_with("More instructions, which alone fail nothing: sort +3.10 %."));
  EXPECT_EQ(remarks[1],
            "Only 1 of 2 benchmarks were counted exactly: a fifth of the budget, 12 seconds, was "
            "used up.");
}

}  // namespace
}  // namespace taskbench::reports::verdict
