// Verdicts on metrics besides time that were asked for.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <tuple>

#include "reports/render/paired.hpp"
#include "reports/verdict/paired.hpp"
#include "tests/reports/printed.hpp"
#include "tests/reports/text.hpp"
#include "tests/reports/verdict/made_up_trial.hpp"

namespace taskbench::reports::verdict {
namespace {

using model::Side;

/// A trial whose benchmarks also report "nodes", which is higher by `change` in head.
model::PairedTrial trial_with_nodes(double change, double noise, bool more_is_better = false) {
  auto trial = made_up_trial({{"slow", 0.10}, {"same", 0}}, 16, 1);
  trial.setup.judged = {{"nodes", 0.05, more_is_better, {"slow", "same"}}};
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  for (model::ProcessSample& sample : trial.samples) {
    const double effect = sample.side == Side::head ? std::log1p(change) : 0;
    for (auto& [name, counters] : sample.counters) {
      counters["nodes"] = 500 * std::exp(effect + noise * normal(random));
    }
  }
  return trial;
}

TEST(JudgedMetric, a_metric_that_is_asked_for_is_judged_by_itself) {
  const PairedReport report = judge(trial_with_nodes(0.12, 0.01));
  for (const BenchmarkVerdict& row : report.benchmarks) {
    ASSERT_EQ(row.judged.size(), 1U);
    EXPECT_EQ(row.judged[0].verdict, Verdict::fail);
    EXPECT_NEAR(row.judged[0].change, 0.12, 0.02);
    EXPECT_NEAR(row.judged[0].head / row.judged[0].base, 1.12, 0.02);
    EXPECT_EQ(row.verdict, row.name == "slow" ? Verdict::fail : Verdict::pass);
    EXPECT_TRUE(fails(row));
  }
  EXPECT_EQ(report.overall, Verdict::fail);

  // The times have the same verdicts as without the metric, figure by figure.
  auto without = trial_with_nodes(0.12, 0.01);
  without.setup.judged.clear();
  const PairedReport of_times = judge(without);
  for (std::size_t i = 0; i < of_times.benchmarks.size(); ++i) {
    EXPECT_EQ(static_cast<const MetricVerdict&>(of_times.benchmarks[i]), report.benchmarks[i]);
  }
}

TEST(JudgedMetric, of_a_metric_of_which_more_is_better_less_fails) {
  for (const auto& [change, more_is_better, verdict] : {std::tuple{0.12, true, Verdict::pass},
                                                        {-0.12, true, Verdict::fail},
                                                        {-0.12, false, Verdict::pass},
                                                        {0.0, true, Verdict::pass}}) {
    const PairedReport report = judge(trial_with_nodes(change, 0.01, more_is_better));
    const JudgedVerdict& row = report.benchmarks[1].judged[0];
    EXPECT_EQ(row.verdict, verdict) << change;
    EXPECT_NEAR(row.head / row.base, 1 + change, 0.02);
    EXPECT_EQ(report.benchmarks[1].verdict, Verdict::pass);
  }
}

TEST(JudgedMetric, of_which_more_is_better_fails_by_as_much_as_it_falls) {
  for (const auto& [change, verdict] :
       {std::pair{-0.45, Verdict::pass}, {-0.55, Verdict::fail}, {0.9, Verdict::pass}}) {
    auto trial = trial_with_nodes(change, 0.01, true);
    trial.setup.judged[0].delta = 0.5;
    const PairedReport report = judge(trial);
    EXPECT_EQ(report.benchmarks[1].judged[0].verdict, verdict) << change;
    const std::string text = render::table(trial, report, {});
    EXPECT_TRUE(contains(text, "50.0 %"));
  }
}

TEST(JudgedMetric, a_metric_that_is_equal_in_all_processes_passes) {
  const PairedReport report = judge(trial_with_nodes(0, 0));
  EXPECT_EQ(report.benchmarks[1].judged[0].verdict, Verdict::pass);
  EXPECT_EQ(report.benchmarks[1].judged[0].change, 0);
}

TEST(JudgedMetric, an_undecided_metric_keeps_a_trial_from_passing_and_from_ending) {
  auto trial = trial_with_nodes(0.05, 0.4);
  for (auto& sample : trial.samples) sample.real_ns["slow"] = sample.real_ns["same"];
  const PairedReport report = judge(trial);
  EXPECT_EQ(report.benchmarks[0].verdict, Verdict::pass);
  EXPECT_EQ(report.benchmarks[0].judged[0].verdict, Verdict::inconclusive);
  EXPECT_EQ(report.overall, Verdict::inconclusive);
  EXPECT_FALSE(report.decided);
  EXPECT_TRUE(is_undecided(report.benchmarks[0]));
  const std::string text = render::table(trial, report, {});
  EXPECT_TRUE(contains(text, "2 of 2 benchmarks are undecided by nodes"));
}

const double kNothing = std::nan("");

/// Sets what base and head report in each process.
void set_nodes(model::PairedTrial& trial, double base, double head) {
  for (model::ProcessSample& sample : trial.samples) {
    const double value = sample.side == Side::head ? head : base;
    for (auto& [name, counters] : sample.counters) {
      counters["nodes"] = value;
      if (std::isnan(value)) counters.erase("nodes");
    }
  }
}

TEST(JudgedMetric, that_is_0_in_a_process_is_judged_as_a_count) {
  for (const auto& [base, head, verdict] : {std::tuple{0.0, 3.0, Verdict::fail},
                                            {3.0, 0.0, Verdict::pass},
                                            {0.0, 0.0, Verdict::pass}}) {
    auto trial = trial_with_nodes(0, 0.01);
    set_nodes(trial, base, head);
    const PairedReport report = judge(trial);
    const BenchmarkVerdict& row = report.benchmarks[1];
    EXPECT_TRUE(row.judged.empty());
    ASSERT_EQ(row.kinds.size(), 1U);
    EXPECT_EQ(row.kinds[0].kind, "nodes");
    EXPECT_EQ(row.kinds[0].verdict, verdict) << base << " " << head;
    EXPECT_EQ(fails(row), verdict == Verdict::fail);
  }
}

TEST(JudgedMetric, that_is_0_in_a_process_passes_only_if_its_scatter_cannot_hide_what_matters) {
  const auto judged = [](double higher, double lower) {
    auto trial = trial_with_nodes(0, 0.01);
    for (auto& sample : trial.samples) sample.real_ns["slow"] = sample.real_ns["same"];
    set_nodes(trial, 500, 500);
    for (model::ProcessSample& sample : trial.samples) {
      if (sample.side == Side::base) continue;
      for (auto& [name, counters] : sample.counters) {
        counters["nodes"] = sample.block < 10 ? higher : lower;
      }
    }
    for (auto& [name, counters] : trial.samples.front().counters) counters["nodes"] = 0;
    return judge(trial);
  };
  const PairedReport steady = judged(500, 500);
  EXPECT_EQ(steady.overall, Verdict::pass);
  EXPECT_TRUE(steady.benchmarks[1].judged.empty());
  ASSERT_EQ(steady.benchmarks[1].kinds.size(), 1U);
  const PairedReport scattered = judged(700, 300);
  EXPECT_EQ(scattered.overall, Verdict::inconclusive);
  EXPECT_TRUE(scattered.benchmarks[1].kinds.empty());
  ASSERT_EQ(scattered.benchmarks[1].judged.size(), 1U);
  EXPECT_EQ(scattered.benchmarks[1].judged[0].reason,
            "a process reports 0, and the values of the others differ too much");
}

TEST(JudgedMetric, that_is_0_in_base_fails_however_small_its_unit_makes_it) {
  auto trial = trial_with_nodes(0, 0.01);
  set_nodes(trial, 0, 0.25);
  EXPECT_EQ(judge(trial).benchmarks[1].kinds.at(0).verdict, Verdict::fail);
}

TEST(JudgedMetric, that_has_no_ratio_otherwise_keeps_a_trial_from_passing_but_not_from_ending) {
  for (const auto& [base, head, more_is_better, reason] :
       {std::tuple{5.0, 0.0, true, "a process reports 0"},
        {5.0, -1.0, false, "a process reports a negative value, which has no ratio"},
        {-5.0, -1.0, true, "a process reports a negative value, which has no ratio"},
        {-5.0, kNothing, true, "a process does not report it"}}) {
    auto trial = trial_with_nodes(0, 0.01, more_is_better);
    for (auto& sample : trial.samples) sample.real_ns["slow"] = sample.real_ns["same"];
    set_nodes(trial, base, head);
    const PairedReport report = judge(trial);
    EXPECT_EQ(report.overall, Verdict::inconclusive);
    EXPECT_TRUE(report.decided);
    EXPECT_EQ(report.benchmarks[1].judged[0].reason, reason);
    EXPECT_EQ(report.blind, (std::vector<std::string>{"slow", "same"}));
    const std::string text = render::table(trial, report, {});
    EXPECT_TRUE(
        contains(text, "INCONCLUSIVE: slow's nodes and same's nodes: not judged, as a process "));
  }
}

TEST(JudgedMetric, that_a_benchmark_does_not_report_leaves_it_to_its_times_and_that_is_said) {
  auto trial = trial_with_nodes(0.12, 0.01);
  trial.setup.judged[0].of = {"slow"};
  const PairedReport report = judge(trial);
  EXPECT_EQ(report.benchmarks[0].judged.size(), 1U);
  EXPECT_TRUE(report.benchmarks[1].judged.empty());
  EXPECT_FALSE(fails(report.benchmarks[1]));
  const std::string text = render::table(trial, report, {});
  EXPECT_TRUE(contains(text, "same: not judged by nodes, which it does not report."));
}

}  // namespace
}  // namespace taskbench::reports::verdict
