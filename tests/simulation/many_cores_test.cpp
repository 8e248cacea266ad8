// The simulation itself: runs are repeatable, free operations leave nothing to find, the cost of a
// line depends on its distance, and results for one and two workers are close to measurements.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/simulation/experiment.hpp"
#include "tests/simulation/machine.hpp"

namespace sim {
namespace {

TEST(ManyCores, the_same_seed_gives_the_same_run) {
  for (const WorkloadRow& row : workloads()) {
    Experiment experiment{.workload = row.name, .workers = 6, .task_ns = 500};
    const Outcome first = simulate(experiment);
    experiment.workers = 3;
    (void)simulate(experiment);  // what ran before must not matter
    experiment.workers = 6;
    const Outcome again = simulate(experiment);
    EXPECT_EQ(first.time, again.time) << row.name;
    EXPECT_EQ(first.shares, again.shares) << row.name;
    EXPECT_EQ(first.heavy_fences, again.heavy_fences) << row.name;
    EXPECT_EQ(first.steals, again.steals) << row.name;
  }
}

/// Only the clock advances, or a searcher would search forever.
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

/// Clusters of two, sockets of four. The first core is the program's, so cores 1 and 2, and 3 and
/// 4, are clusters of one socket.
constexpr Topology kSmall{.cluster = 2, .socket = 4};
constexpr Ns kNear = 10;
constexpr Ns kLine = 30;
constexpr Ns kRemote = 70;

enum class Access : std::uint8_t { load, locked };
struct Step {
  std::uint32_t core;
  Access access;
};

/// The cost of the last of several accesses to one line, made by cores one after the other.
Ns cost_of_last(const Topology& topology, const std::vector<Step>& steps) {
  constexpr std::uint32_t kCores = 8;
  constexpr Ns kBetween = 1'000;
  alignas(64) static const std::uint64_t line = 0;
  Costs costs = nothing();
  costs.line = costs.probe = kLine;
  costs.line_near = kNear;
  costs.line_remote = kRemote;
  Machine machine_of_test(costs, Changes{}, topology);
  Ns last = 0;
  machine_of_test.run([&] {
    for (std::uint32_t core = 1; core <= kCores; ++core) {
      machine->start([&, core] {
        for (std::size_t i = 0; i < steps.size(); ++i) {
          spend(Share::task, kBetween * static_cast<Ns>(i + 1) - current->now);
          machine->give_way();
          if (steps[i].core != core) continue;
          const Ns begin = current->now;
          steps[i].access == Access::load ? load(&line) : locked(&line);
          last = current->now - begin;
        }
      });
    }
    for (std::uint32_t core = 1; core <= kCores; ++core) machine->join(core);
  });
  return last;
}

TEST(ManyCores, a_line_costs_by_what_two_cores_share) {
  for (const Access access : {Access::load, Access::locked}) {
    const auto cost = [&](std::uint32_t from, std::uint32_t to) {
      return cost_of_last(kSmall, {{from, Access::locked}, {to, access}});
    };
    EXPECT_EQ(cost(1, 2), kNear);
    EXPECT_EQ(cost(4, 3), kNear);
    EXPECT_EQ(cost(2, 3), kLine);
    EXPECT_EQ(cost(1, 4), kLine);
    EXPECT_EQ(cost(4, 5), kRemote);
    EXPECT_EQ(cost(8, 1), kRemote);
  }
}

TEST(ManyCores, a_load_takes_a_line_from_the_nearest_who_has_it) {
  EXPECT_EQ(cost_of_last(kSmall, {{1, Access::locked}, {5, Access::load}, {6, Access::load}}),
            kNear);
  EXPECT_EQ(cost_of_last(kSmall, {{1, Access::locked}, {5, Access::load}, {7, Access::load}}),
            kLine);
}

TEST(ManyCores, who_writes_waits_for_the_farthest_who_has_the_line) {
  EXPECT_EQ(cost_of_last(kSmall, {{1, Access::locked}, {5, Access::load}, {2, Access::locked}}),
            kRemote);
  EXPECT_EQ(cost_of_last(kSmall, {{1, Access::locked}, {3, Access::load}, {3, Access::locked}}),
            kLine);
}

TEST(ManyCores, without_clusters_all_lines_cost_the_same) {
  for (const std::uint32_t to : {2U, 4U, 8U}) {
    EXPECT_EQ(cost_of_last({}, {{1, Access::locked}, {to, Access::load}}), kLine) << to;
    EXPECT_EQ(cost_of_last({}, {{1, Access::locked}, {to, Access::locked}}), kLine) << to;
  }
}

/// When the last of three cores has passed its heavy fence, if two come while the first one passes.
Ns three_have_passed(Changes::Fences fences) {
  Costs costs = nothing();
  costs.barrier = 1'000;
  Machine machine_of_test(costs, Changes{.fences = fences}, Topology{});
  Ns last = 0;
  machine_of_test.run([&] {
    for (std::uint32_t core = 1; core <= 3; ++core) {
      machine->start([&, core] {
        spend(Share::task, 10 * static_cast<Ns>(core) - current->now);
        machine->heavy_fence();
        last = std::max(last, current->now);
      });
    }
    for (std::uint32_t core = 1; core <= 3; ++core) machine->join(core);
  });
  return last;
}

TEST(ManyCores, heavy_fences_wait_for_each_other_or_those_that_wait_share_one) {
  EXPECT_EQ(three_have_passed(Changes::Fences::balance), 3'010);
  EXPECT_EQ(three_have_passed(Changes::Fences::shared), 2'010);
}

TEST(ManyCores, near_lines_that_cost_as_much_as_others_change_nothing) {
  Experiment experiment{.workload = "balanced", .workers = 8};
  const Outcome before = simulate(experiment);
  experiment.topology = kSmall;
  experiment.costs.line_near = experiment.costs.line_remote = experiment.costs.line;
  const Outcome after = simulate(experiment);
  EXPECT_EQ(before.time, after.time);
  EXPECT_EQ(before.shares, after.shares);
}

TEST(ManyCores, only_a_task_that_has_moved_waits_for_its_data) {
  Experiment experiment{.workload = "tree", .workers = 1};
  const Ns before = simulate(experiment).time;
  experiment.costs.data = 5'000;
  // The difference is the one task that comes from outside.
  EXPECT_NEAR(simulate(experiment).time - before, 5'000, 500);
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
