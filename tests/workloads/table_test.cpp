// The table of workloads against the names and constants of the documents (W1 to W4).
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "workloads/workload.hpp"

namespace taskbench::workloads {
namespace {

std::uint64_t operations_at_defaults(std::string_view name) {
  const Workload* workload = find(name);
  return workload == nullptr ? 0 : workload->operations(defaults(*workload));
}

ParameterValues defaults_of(std::string_view name) {
  const Workload* workload = find(name);
  return workload == nullptr ? ParameterValues{} : defaults(*workload);
}

TEST(table, has_the_five_workloads_in_order) {
  std::vector<std::string_view> names;
  for (const Workload& workload : all()) names.push_back(workload.name);
  EXPECT_EQ(names, (std::vector<std::string_view>{"chained_spawn", "ping_pong", "spawn_many",
                                                  "spawn_local", "yield_many"}));
}

TEST(table, w1_chained_spawn_defaults_to_1000_links) {
  EXPECT_EQ(defaults_of("chained_spawn"), (ParameterValues{{"length", 1'000}}));
  EXPECT_EQ(operations_at_defaults("chained_spawn"), 1'000U);
}

TEST(table, w2_ping_pong_defaults_to_1000_pings) {
  EXPECT_EQ(defaults_of("ping_pong"), (ParameterValues{{"pings", 1'000}}));
  EXPECT_EQ(operations_at_defaults("ping_pong"), 1'000U);
}

TEST(table, w3_spawn_many_defaults_to_10000_tasks) {
  EXPECT_EQ(defaults_of("spawn_many"), (ParameterValues{{"tasks", 10'000}}));
  EXPECT_EQ(operations_at_defaults("spawn_many"), 10'000U);
}

TEST(table, w3_spawn_local_defaults_to_10000_tasks) {
  EXPECT_EQ(defaults_of("spawn_local"), (ParameterValues{{"tasks", 10'000}}));
  EXPECT_EQ(operations_at_defaults("spawn_local"), 10'000U);
}

TEST(table, w4_yield_many_defaults_to_200_tasks_of_1000_yields) {
  EXPECT_EQ(defaults_of("yield_many"), (ParameterValues{{"tasks", 200}, {"yields", 1'000}}));
  EXPECT_EQ(operations_at_defaults("yield_many"), 200'000U);
}

TEST(table, every_row_is_complete_and_its_defaults_lie_in_range) {
  for (const Workload& workload : all()) {
    SCOPED_TRACE(workload.name);
    EXPECT_FALSE(workload.summary.empty());
    EXPECT_FALSE(workload.operation.empty());
    EXPECT_NE(workload.make, nullptr);
    EXPECT_EQ(find(workload.name), &workload);
    EXPECT_FALSE(workload.parameters.empty());
    for (const Parameter& parameter : workload.parameters) {
      SCOPED_TRACE(parameter.name);
      EXPECT_FALSE(parameter.description.empty());
      EXPECT_GE(parameter.min, 1U);
      EXPECT_LE(parameter.min, parameter.default_value);
      EXPECT_LE(parameter.default_value, parameter.max);
    }
  }
}

TEST(table, find_knows_no_other_name) {
  EXPECT_EQ(find("chained_spawns"), nullptr);
  EXPECT_EQ(find(""), nullptr);
}

TEST(table, operations_follow_the_parameters) {
  EXPECT_EQ(find("yield_many")->operations({{"tasks", 3}, {"yields", 7}}), 21U);
  EXPECT_EQ(find("chained_spawn")->operations({{"length", 5}}), 5U);
}

TEST(table, operations_do_not_overflow_at_the_largest_parameters) {
  for (const Workload& workload : all()) {
    ParameterValues largest;
    double product = 1;
    for (const Parameter& parameter : workload.parameters) {
      largest.emplace(parameter.name, parameter.max);
      product *= static_cast<double>(parameter.max);
    }
    EXPECT_DOUBLE_EQ(static_cast<double>(workload.operations(largest)), product) << workload.name;
  }
}

}  // namespace
}  // namespace taskbench::workloads
