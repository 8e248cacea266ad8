#include "reports/render/counts.hpp"

#include <gtest/gtest.h>

#include <string>

#include "reports/render/verdict_table.hpp"
#include "tests/reports/text.hpp"

namespace taskbench::reports::render {
namespace {

using verdict::Verdict;

VerdictText::Benchmark with_kinds(const std::vector<verdict::KindVerdict>& kinds,
                                  Verdict of_times = Verdict::pass) {
  VerdictText::Benchmark benchmark{.name = "sort", .verdict = of_times, .change = 0.001};
  add_kinds(kinds, compared_titles("base", "head", 0.9), benchmark);
  return benchmark;
}

verdict::KindVerdict counted(std::string kind, double base, double head,
                             bool acknowledged = false) {
  return verdict::judge_kind(std::move(kind), std::vector{base, base}, std::vector{head, head},
                             acknowledged);
}

TEST(Counts, more_of_a_kind_fails_a_benchmark_whose_time_passes_and_is_its_finding) {
  const auto failed = with_kinds({counted("fences", 0, 999), counted("system-calls", 1, 2.25)});
  EXPECT_EQ(failed.verdict, Verdict::fail);
  EXPECT_EQ(failed.metric, Metric::counts);
  EXPECT_EQ(findings(failed, 0.9),
            (Sentences{"has more fences: 0 → 999 an iteration: its time passes, +0.1 %",
                       "has more system calls: 1 → 2.25 an iteration"}));
  ASSERT_EQ(failed.rows.size(), 2U);
  EXPECT_EQ(failed.rows[0].cells[0], "  its fences");
  EXPECT_EQ(failed.rows[0].cells[3], "999");
}

TEST(Counts, beside_a_time_that_fails_each_kind_has_a_line_of_its_own) {
  const auto failed = with_kinds({counted("fences", 0, 9)}, Verdict::fail);
  EXPECT_EQ(failed.metric, Metric::time);
  EXPECT_EQ(findings(failed, 0.9).back(), "has more fences: 0 → 9 an iteration");
}

TEST(Counts, what_is_equal_has_no_row_and_what_is_acknowledged_or_fewer_passes) {
  EXPECT_TRUE(with_kinds({counted("fences", 9, 9)}).rows.empty());
  const auto passed = with_kinds({counted("fences", 0, 9, true), counted("divisions", 9, 3)});
  EXPECT_EQ(passed.verdict, Verdict::pass);
  EXPECT_EQ(passed.rows.at(0).cells[1], "PASS, acknowledged");
  EXPECT_EQ(passed.rows.at(1).cells[1], "PASS, fewer");
}

TEST(Counts, the_headline_tells_what_is_slower_from_what_costs_more) {
  VerdictText text;
  text.benchmarks = {with_kinds({counted("fences", 0, 9)}, Verdict::fail),
                     with_kinds({counted("divisions", 1, 3)}), with_kinds({})};
  text.benchmarks[0].change = 0.123;
  text.benchmarks[1].name = "hash";
  EXPECT_EQ(
      verdict_sentence(Verdict::fail, text, {.alpha = 0.01, .pass_error = 0.05, .threshold = {}}),
      "FAIL: sort is 12.3 % slower, 1 of 3 benchmarks; the chance of a false alarm is at most 1 %; "
      "by exact count, 2 of 3 benchmarks have higher counts: sort by its fences: 0 → 9 an "
      "iteration, hash by its divisions: 1 → 3 an iteration");
}

TEST(Counts, instructions_that_are_only_shown_have_a_row_where_they_changed) {
  VerdictText::Benchmark benchmark{.name = "sort", .verdict = Verdict::pass};
  const Cells titles = compared_titles("base", "head", 0.9);
  auto same = verdict::judge_instructions(std::vector{9.0, 9.0}, std::vector{9.0, 9.0});
  same.only_shown = true;
  add_instructions(same, titles, benchmark);
  EXPECT_TRUE(benchmark.rows.empty());
  auto more = verdict::judge_instructions(std::vector{9.0, 9.0}, std::vector{18.0, 18.0});
  more.only_shown = true;
  more.verdict = Verdict::pass;
  add_instructions(more, titles, benchmark);
  EXPECT_EQ(benchmark.rows.at(0).cells[1], "more");
  EXPECT_EQ(benchmark.rows.at(0).cells[4], "+100.00 %");
  EXPECT_EQ(benchmark.verdict, Verdict::pass);
}

TEST(Counts, the_headline_says_that_counts_are_exact) {
  VerdictText text;
  text.benchmarks = {with_kinds({counted("fences", 0, 9)}), with_kinds({})};
  EXPECT_EQ(
      verdict_sentence(Verdict::fail, text, {.alpha = 0.01, .pass_error = 0.05, .threshold = {}}),
      "FAIL: sort has more fences: 0 → 9 an iteration, 1 of 2 benchmarks; what is counted is "
      "exact, not timed");
}

/// The lines that explain a benchmark "sort" whose wall time has grown by a tenth, and its CPU time
/// by `cpu_change`.
Sentences lines_of(std::vector<model::Explanation> explanations, double cpu_change = 0.1) {
  model::PairedTrial trial;
  verdict::PairedReport report;
  for (const model::Explanation& each : explanations) {
    verdict::BenchmarkVerdict& row = report.benchmarks.emplace_back();
    row.name = each.benchmark;
    row.change = 0.1;
    row.cpu.emplace().change = cpu_change;
    row.counters = {{"steals", 3, 9, 5}};
  }
  trial.explanations = std::move(explanations);
  return explanation_lines(trial, report);
}

model::Explanation explained(double base, double head) {
  model::Explanation result;
  result.benchmark = "sort";
  result.base = base;
  result.head = head;
  result.functions = {{"push", "/src/queue/ring.hpp", 120, 100, 580, 10, 58},
                      {"pop", {}, 0, 5, 25, 0, 0},
                      {"steal", {}, 0, 0, 8, 0, 1}};
  result.kinds = {{"fences", 0, 999, "push", "/src/queue/ring.hpp", 121}};
  return result;
}

TEST(Counts, explain_by_the_functions_that_grew_in_at_most_ten_lines) {
  EXPECT_EQ(lines_of({explained(1000, 1500)}),
            (Sentences{"sort: it executes more instructions, 1,000 → 1,500 an iteration, +50.00 %",
                       "  +480 in push, queue/ring.hpp:120 (100 → 580; called 10 → 58 times)",
                       "  +20 in pop (5 → 25)", "  +8 in steal (0 → 8; called 0 → 1 times)",
                       "  fences 0 → 999 in push, queue/ring.hpp:121; in the trial, per iteration "
                       "steals 3.00 → 9.00"}));
  EXPECT_EQ(lines_of({explained(1000, 1500), explained(10, 20)}).size(), 10U);
}

TEST(Counts, say_what_is_left_where_instructions_did_not_grow) {
  EXPECT_EQ(lines_of({explained(1000, 1001)}).front(),
            "sort: its instructions did not grow (1,000 → 1,001 an iteration, +0.10 %), but there "
            "are more fences");
  model::Explanation same = explained(1000, 1000);
  same.kinds.clear();
  EXPECT_TRUE(lines_of({same}).front().ends_with(
      "so that what is left is the cache, the layout of the code, or the kernel"));
  EXPECT_TRUE(lines_of({same}, 0).front().ends_with("what is left is the kernel, or waiting"));
  same.unavailable = "no valgrind";
  EXPECT_EQ(lines_of({same}).front(), "sort: its instructions could not be counted: no valgrind");
}

}  // namespace
}  // namespace taskbench::reports::render
