#include "reports/stats/summary.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <vector>

#include "tests/reports/sample_runs.hpp"

namespace taskbench::reports::stats {
namespace {

using Values = std::vector<double>;

/// NIST's Statistical Reference Datasets, univariate summary statistics, NumAcc2 to NumAcc4: a
/// centre, then 1,000 values alternately 0.1 below and above it
/// (https://www.itl.nist.gov/div898/strd/univ/homepage.html).
Values nist_numacc(double centre, double below, double above) {
  Values values = {centre};
  for (int i = 0; i < 500; ++i) {
    values.push_back(below);
    values.push_back(above);
  }
  return values;
}

model::Case case_with(const Values& real_ns) {
  model::Case result;
  result.operations = 10;
  for (const double ns : real_ns) {
    model::Repetition repetition;
    repetition.iterations = 5;
    repetition.real_ns = ns;
    repetition.cpu_ns = 2 * ns;
    result.repetitions.push_back(repetition);
  }
  return result;
}

TEST(Median, is_the_middle_value_or_the_mean_of_the_middle_two) {
  EXPECT_EQ(median(Values{9, 1, 5}), 5);
  EXPECT_EQ(median(Values{3.25}), 3.25);
  EXPECT_EQ(median(Values{40, 1, 2, 3}), 2.5);
  EXPECT_EQ(median(Values{7, 5}), 6);
}

TEST(Median, does_not_overflow_between_huge_values) {
  const double huge = std::numeric_limits<double>::max();
  EXPECT_EQ(median(Values{huge, huge}), huge);
}

// The examples of scipy.stats.median_abs_deviation's documentation (SciPy 1.10): for
// x = [[10, 7, 4], [3, 2, 1]] it gives [3.5, 2.5, 1.5] by column and 2.0 over all.
TEST(MedianAbsoluteDeviation, equals_the_examples_of_scipys_documentation) {
  EXPECT_EQ(median_absolute_deviation(Values{10, 3}), 3.5);
  EXPECT_EQ(median_absolute_deviation(Values{7, 2}), 2.5);
  EXPECT_EQ(median_absolute_deviation(Values{4, 1}), 1.5);
  EXPECT_EQ(median_absolute_deviation(Values{10, 7, 4, 3, 2, 1}), 2.0);
}

TEST(MedianAbsoluteDeviation, is_not_moved_by_an_outlier) {
  EXPECT_EQ(median_absolute_deviation(Values{1, 2, 3, 4, 5}), 1);
  EXPECT_EQ(median_absolute_deviation(Values{1, 2, 3, 4, 5e9}), 1);
}

TEST(StandardDeviation, equals_nists_certified_values) {
  // NumAcc1: 10000001, 10000003, 10000002; certified mean 10000002, standard deviation 1.
  const Values numacc1 = {10000001, 10000003, 10000002};
  EXPECT_EQ(mean(numacc1), 10000002);
  EXPECT_EQ(standard_deviation(numacc1), 1);
  // NumAcc2 to NumAcc4: standard deviation 0.1 each. A single pass over squares would lose nearly
  // every digit of the last one.
  const Values numacc2 = nist_numacc(1.2, 1.1, 1.3);
  EXPECT_NEAR(mean(numacc2), 1.2, 1e-13);
  EXPECT_NEAR(standard_deviation(numacc2), 0.1, 1e-11);
  const Values numacc3 = nist_numacc(1000000.2, 1000000.1, 1000000.3);
  EXPECT_NEAR(mean(numacc3), 1000000.2, 1e-7);
  EXPECT_NEAR(standard_deviation(numacc3), 0.1, 1e-9);
  const Values numacc4 = nist_numacc(10000000.2, 10000000.1, 10000000.3);
  EXPECT_NEAR(mean(numacc4), 10000000.2, 1e-6);
  EXPECT_NEAR(standard_deviation(numacc4), 0.1, 1e-8);
}

// Three repetitions timed by Google Benchmark 1.7.1 (libbenchmark-dev of Debian 12), and the
// aggregates that it printed for them.
TEST(Aggregates, equal_google_benchmarks) {
  const Values real_time = {1.0815296999908242e+03, 1.0337941999978284e+03, 1.0063106999950834e+03};
  EXPECT_DOUBLE_EQ(mean(real_time), 1.0405448666612451e+03);
  EXPECT_DOUBLE_EQ(median(real_time), 1.0337941999978284e+03);
  EXPECT_NEAR(standard_deviation(real_time), 3.8061175959111772e+01, 1e-10);
  EXPECT_NEAR(coefficient_of_variation(real_time), 3.6578120923547633e-02, 1e-13);
  const Values cpu_time = {1.0816243999999999e+03, 1.0319849999999999e+03, 1.0063745000000002e+03};
  EXPECT_DOUBLE_EQ(mean(cpu_time), 1.0399946333333332e+03);
  EXPECT_NEAR(standard_deviation(cpu_time), 3.8259018964207151e+01, 1e-10);
  EXPECT_NEAR(coefficient_of_variation(cpu_time), 3.6787708068820951e-02, 1e-13);
}

TEST(Aggregates, single_value_has_no_deviation) {
  EXPECT_EQ(standard_deviation(Values{5}), 0);
  EXPECT_EQ(coefficient_of_variation(Values{5}), 0);
}

TEST(Aggregates, variation_of_zeros_is_zero_and_not_nan) {
  EXPECT_EQ(coefficient_of_variation(Values{0, 0, 0}), 0);
}

TEST(Aggregates, nothing_of_no_values) {
  EXPECT_THROW(static_cast<void>(median({})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(median_absolute_deviation({})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(mean({})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(standard_deviation({})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(coefficient_of_variation({})), std::invalid_argument);
}

TEST(Summarize, rests_on_all_complete_repetitions) {
  const std::optional<CaseSummary> summary = summarize(case_with({100, 104, 96, 102, 130}));
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->real_ns.samples, 5U);
  EXPECT_EQ(summary->real_ns.median, 102);
  EXPECT_EQ(summary->real_ns.mad, 2);
  EXPECT_EQ(summary->real_ns.min, 96);
  EXPECT_EQ(summary->real_ns.max, 130);
  EXPECT_EQ(summary->cpu_ns.median, 204);
  EXPECT_EQ(summary->cpu_ns.mad, 4);
  EXPECT_EQ(summary->ns_per_operation, 10.2);
}

TEST(Summarize, leaves_out_repetitions_without_iterations_or_with_impossible_times) {
  model::Case measured = case_with({100, 1, 2, 3, 4, 5});
  measured.repetitions[1].iterations = 0;
  measured.repetitions[2].real_ns = std::numeric_limits<double>::quiet_NaN();
  measured.repetitions[3].cpu_ns = std::numeric_limits<double>::infinity();
  measured.repetitions[4].real_ns = -1;
  measured.repetitions[5].cpu_ns = -1;
  const std::optional<CaseSummary> summary = summarize(measured);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->real_ns.samples, 1U);
  EXPECT_EQ(summary->real_ns.median, 100);
}

TEST(Summarize, failed_case_has_no_summary) {
  model::Case measured = case_with({100, 101});
  measured.error = "a task ran twice";
  EXPECT_FALSE(summarize(measured));
}

TEST(Summarize, case_without_a_complete_repetition_has_no_summary) {
  EXPECT_FALSE(summarize(case_with({})));
  model::Case measured = case_with({100});
  measured.repetitions[0].iterations = 0;
  EXPECT_FALSE(summarize(measured));
}

TEST(Summarize, unknown_operations_give_no_time_per_operation) {
  model::Case measured = case_with({100});
  measured.operations = 0;
  ASSERT_TRUE(summarize(measured));
  EXPECT_FALSE(summarize(measured)->ns_per_operation);
}

TEST(Summarize, context_switches_are_the_median_of_both_kinds_together) {
  model::Case measured = case_with({100, 100, 100});
  const std::array<double, 3> voluntary = {1, 2, 3};
  const std::array<double, 3> involuntary = {5, 0, 0};
  for (std::size_t i = 0; i < 3; ++i) {
    measured.repetitions[i].counters["voluntary_switches"] = voluntary[i];
    measured.repetitions[i].counters["involuntary_switches"] = involuntary[i];
  }
  const std::optional<CaseSummary> summary = summarize(measured);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->switches.both, 3);  // of 6, 2 and 3; not 2 + 0, the sum of the medians
  EXPECT_EQ(summary->switches.voluntary, 2);
  EXPECT_EQ(summary->switches.involuntary, 0);
}

TEST(Summarize, context_switches_that_were_not_measured_are_missing_and_not_zero) {
  model::Case measured = case_with({100, 100});
  EXPECT_FALSE(summarize(measured)->switches.both);
  measured.repetitions[0].counters["voluntary_switches"] = 4;
  EXPECT_FALSE(summarize(measured)->switches.both);
  EXPECT_EQ(summarize(measured)->switches.voluntary, 4);
  EXPECT_FALSE(summarize(measured)->switches.involuntary);
}

TEST(Summarize, counters_are_medians_over_the_repetitions_that_have_them) {
  model::Case measured = case_with({100, 100, 100});
  measured.repetitions[0].counters = {{"steals", 1}, {"parks", 7}};
  measured.repetitions[1].counters = {{"steals", 5}};
  measured.repetitions[2].counters = {{"steals", 2},
                                      {"parks", std::numeric_limits<double>::quiet_NaN()}};
  const std::optional<CaseSummary> summary = summarize(measured);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->counters, (std::map<std::string, double>{{"steals", 2}, {"parks", 7}}));
}

using Values = std::vector<double>;

// >>> np.quantile([7, 1, 3.5, 12, 4, 4, 9.25], [0, .1, .25, .5, .75, .9, .99, 1])   # NumPy 1.24.2
TEST(Quantile, equals_numpys) {
  const Values values = {7, 1, 3.5, 12, 4, 4, 9.25};
  const Values p = {0, .1, .25, .5, .75, .9, .99, 1};
  const Values expected = {1, 2.5, 3.75, 4, 8.125, 10.35, 11.835, 12};
  for (std::size_t i = 0; i < p.size(); ++i) {
    EXPECT_NEAR(quantile(values, p[i]), expected[i], 1e-13) << p[i];
  }
}

TEST(Quantile, rejects_what_it_cannot_use) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)quantile(Values{}, 0.5), std::invalid_argument);
  EXPECT_THROW((void)quantile(Values{1, nan}, 0.5), std::invalid_argument);
  EXPECT_THROW((void)quantile(Values{1}, -0.1), std::invalid_argument);
  EXPECT_THROW((void)quantile(Values{1}, 99), std::invalid_argument);
  EXPECT_THROW((void)quantile(Values{1}, nan), std::invalid_argument);
}

TEST(floor_summary, of_many_samples) {
  model::FloorFigure figure{"x", "x", {}};
  for (int i = 100; i >= 0; --i) figure.ns.push_back(i);
  const auto summary = summarize(figure);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->median, 50);
  EXPECT_EQ(summary->min, 0);
  EXPECT_EQ(summary->lower_quartile, 25);
  EXPECT_EQ(summary->upper_quartile, 75);
  EXPECT_EQ(summary->p99, 99);
}

TEST(floor_summary, few_samples_have_no_99th_percentile_and_one_no_spread) {
  const auto few = summarize(model::FloorFigure{"x", "x", {1, 2, 3}});
  ASSERT_TRUE(few);
  EXPECT_EQ(few->upper_quartile, 2.5);
  EXPECT_EQ(few->p99, std::nullopt);
  const auto one = summarize(model::FloorFigure{"x", "x", {7}});
  ASSERT_TRUE(one);
  EXPECT_EQ(one->median, 7);
  EXPECT_EQ(one->lower_quartile, std::nullopt);
}

TEST(floor_summary, of_nothing_or_nonsense_is_none) {
  EXPECT_FALSE(summarize(model::FloorFigure{"x", "x", {}, "interrupted"}));
  EXPECT_FALSE(
      summarize(model::FloorFigure{"x", "x", {1, std::numeric_limits<double>::infinity()}}));
}

}  // namespace

}  // namespace taskbench::reports::stats
