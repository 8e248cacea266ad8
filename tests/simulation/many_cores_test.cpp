// The simulation itself: that it can be repeated, that it finds nothing where there is nothing to
// be found, and that with one worker and two it comes near to what was measured.
#include <gtest/gtest.h>

#include "tests/simulation/experiment.hpp"

namespace sim {
namespace {

TEST(ManyCores, the_same_seed_gives_the_same_run) {
  for (const WorkloadRow& row : workloads()) {
    Experiment experiment{.workload = row.name, .workers = 6, .task_ns = 500};
    const Outcome first = simulate(experiment);
    experiment.workers = 3;
    (void)simulate(experiment);  // what ran before makes no difference
    experiment.workers = 6;
    const Outcome again = simulate(experiment);
    EXPECT_EQ(first.time, again.time) << row.name;
    EXPECT_EQ(first.shares, again.shares) << row.name;
    EXPECT_EQ(first.heavy_fences, again.heavy_fences) << row.name;
    EXPECT_EQ(first.steals, again.steals) << row.name;
  }
}

/// Only the clock goes on, or who searches would search for ever.
Costs nothing() {
  Costs costs;
  for (const CostRow& row : kCostRows) costs.*row.value = 0;
  costs.clock = costs.pause = 1;
  return costs;
}

TEST(ManyCores, where_nothing_costs_anything_all_workers_work_all_the_time) {
  for (const std::uint32_t workers : {1U, 2U, 16U, 64U}) {
    const Outcome outcome = simulate(
        {.workload = "balanced", .workers = workers, .task_ns = 10'000, .costs = nothing()});
    EXPECT_NEAR(outcome.rate * 10 / workers, 1, 0.02) << workers;
    EXPECT_NEAR(outcome.shares[index_of(Share::task)], 1, 0.02) << workers;
  }
}

TEST(ManyCores, all_time_is_put_down_to_something) {
  for (const WorkloadRow& row : workloads()) {
    const Outcome outcome = simulate({.workload = row.name, .workers = 8});
    double sum = 0;
    for (const double share : outcome.shares) sum += share;
    EXPECT_NEAR(sum, 1, 0.02) << row.name;
  }
}

TEST(ManyCores, one_worker_and_two_take_about_as_long_as_measured) {
  for (const Measured& measured : kMeasured) {
    if (measured.workload == "spawn_many")
      continue;  // slower than measured: docs/design/many_cores.md
    Experiment experiment{.workload = measured.workload, .task_ns = 0, .iterations = 6};
    experiment.costs.line = experiment.costs.probe = 73;  // measured on that machine
    experiment.workers = 1;
    const Ns one = simulate(experiment).time;
    experiment.workers = 2;
    const Ns two = simulate(experiment).time;
    EXPECT_NEAR(one / 1'000 / measured.one_us, 1, 0.15) << measured.workload;
    EXPECT_NEAR(two / one / (measured.two_us / measured.one_us), 1, 0.2) << measured.workload;
  }
}

}  // namespace
}  // namespace sim
