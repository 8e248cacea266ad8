// How long the processes of a trial measure, given their cost and the remaining budget.
#include "harness/trials/sampling_plan.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "reports/model/paired.hpp"

namespace taskbench::harness {
namespace {

using reports::model::Sampling;

const Sampling kUsual = reports::model::PairedSetup();

/// The cost of a process with `benchmarks` benchmarks, of 10 µs by default.
ProcessCost cost(double start_s, std::size_t benchmarks, double iteration_s = 1e-5) {
  return {start_s, std::vector<double>(benchmarks, iteration_s)};
}

double blocks(const ProcessCost& cost, double left_s, const Sampling& sampling) {
  return left_s / (reports::model::kBlockSize * cost.seconds(sampling));
}

TEST(SamplingPlan, keeps_the_usual_repetitions_where_enough_blocks_fit) {
  const Sampling plan = sampling_for(cost(0.004, 6), 60, kUsual);
  EXPECT_EQ(plan.repetitions, kUsual.repetitions);
  EXPECT_EQ(plan.min_time_s, kUsual.min_time_s);
}

TEST(SamplingPlan, a_process_takes_its_start_and_its_repetitions_or_their_single_iterations) {
  EXPECT_NEAR(cost(0.5, 2).seconds(kUsual), 0.5 + 2 * 9 * 0.001, 1e-12);
  EXPECT_NEAR(cost(0, 2, 0.1).seconds(kUsual), 2 * 9 * 0.1, 1e-12);
}

TEST(SamplingPlan, shrinks_no_more_than_until_sixteen_blocks_fit) {
  for (const std::size_t benchmarks : {40U, 250U, 500U, 700U}) {
    const ProcessCost each = cost(0.01, benchmarks);
    const Sampling plan = sampling_for(each, 120, kUsual);
    EXPECT_GE(blocks(each, 120, plan), 16) << benchmarks;
    if (benchmarks == 40) {
      EXPECT_EQ(plan.repetitions, 9);
      continue;
    }
    Sampling longer = plan;
    longer.repetitions = 9;
    longer.min_time_s = 0.001;
    EXPECT_LT(blocks(each, 120, longer), 16) << benchmarks;
  }
}

TEST(SamplingPlan, takes_the_shortest_where_even_that_is_too_long) {
  const Sampling plan = sampling_for(cost(1, 1000, 0.01), 60, kUsual);
  EXPECT_EQ(plan.repetitions, 3);
  EXPECT_EQ(plan.min_time_s, 0.0002);
}

TEST(SamplingPlan, measures_longer_where_starts_take_the_time_and_there_is_plenty) {
  EXPECT_GT(sampling_for(cost(0.2, 1), 600, kUsual).min_time_s, 0.01);
  EXPECT_LE(sampling_for(cost(5, 1), 3600, kUsual).min_time_s, 0.02);
  EXPECT_LT(sampling_for(cost(0.2, 1), 30, kUsual).min_time_s, 0.01) << "not plenty";
}

TEST(SamplingPlan, measures_an_eighth_of_a_long_start_however_few_blocks_fit) {
  const ProcessCost long_start = cost(2, 5);
  for (const double left_s : {40.0, 180.0}) {
    const Sampling plan = sampling_for(long_start, left_s, kUsual);
    EXPECT_EQ(plan.repetitions, kUsual.repetitions) << left_s;
    EXPECT_GT(long_start.measuring_s(plan), 2. / 16) << left_s;
    EXPECT_LE(long_start.measuring_s(plan), 2. / 8) << left_s;
  }
}

TEST(SamplingPlan, repeats_more_often_where_a_repetition_cannot_be_longer) {
  const Sampling plan = sampling_for(cost(2, 5), 180, kUsual, Longer::repetitions);
  EXPECT_EQ(plan.repetitions, 4 * kUsual.repetitions);
  EXPECT_EQ(plan.min_time_s, kUsual.min_time_s);
}

}  // namespace
}  // namespace taskbench::harness
