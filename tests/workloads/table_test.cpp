// The table of workloads, compared with what docs/workloads.md promises.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "workloads/base/workload.hpp"

namespace taskbench::workloads {
namespace {

TEST(table, has_the_workloads_in_order_with_the_sizes_that_the_docs_name) {
  struct Row {
    std::string_view name;
    ParameterValues defaults;
    std::uint64_t operations;
  };
  const std::vector<Row> rows{
      {"chained_spawn", {{"length", 1'000}}, 1'000},
      {"ping_pong", {{"pings", 1'000}}, 1'000},
      {"spawn_many", {{"tasks", 10'000}}, 10'000},
      {"spawn_local", {{"tasks", 10'000}}, 10'000},
      {"yield_many", {{"tasks", 200}, {"yields", 1'000}}, 200'000},
      {"fib", {{"n", 25}}, 242'785},
      {"skynet", {{"leaves", 100'000}}, 100'000},
      {"nqueens", {{"n", 10}}, 1},
      {"matmul", {{"n", 128}}, 2'097'152},
      {"uts_geometric", {{"depth", 6}}, 1},
      {"uts_binomial", {{"roots", 20}}, 1},
      {"sort", {{"numbers", 100'000}}, 100'000},
      {"channel",
       {{"numbers", 100'000}, {"senders", 4}, {"receivers", 4}, {"capacity", 1'024}},
       100'000},
      {"imbalance", {{"tasks", 2'000}, {"steps", 1'000}}, 2'000},
      {"blocking_calls",
       {{"calls", 8}, {"block_us", 1'000}, {"tasks", 1'000}, {"steps", 1'000}},
       1'008},
      {"fairness", {{"tasks", 200}, {"yields", 1'000}}, 200'000},
      {"wake_under_load",
       {{"wakes", 100}, {"pause_us", 100}, {"tasks", 256}, {"steps", 1'000}},
       200},
      {"timer", {{"tasks", 1'000}, {"sleep_ms", 10}}, 1'000},
      {"timeouts", {{"tasks", 100}, {"timers", 1'000}}, 100'000},
      {"echo", {{"connections", 64}, {"busy", 8}, {"round_trips", 1'000}, {"bytes", 64}}, 1'000},
      {"tcp_ping_pong", {{"connections", 20}, {"round_trips", 1'000}}, 1'000},
      {"accept_storm", {{"connections", 1'000}, {"at_once", 50}}, 1'000},
      {"http_hello", {{"requests", 1'000}, {"connections", 50}}, 1'000},
      {"grpc_unary", {{"requests", 1'000}, {"connections", 5}, {"streams", 10}}, 1'000}};
  ASSERT_EQ(all().size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Workload& workload = all()[i];
    EXPECT_EQ(workload.name, rows[i].name);
    EXPECT_EQ(defaults(workload), rows[i].defaults) << workload.name;
    EXPECT_EQ(workload.operations(rows[i].defaults), rows[i].operations) << workload.name;
  }
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

// No sum or product of the parameters wraps around: with each parameter at its largest, the number
// of operations grows exactly as arithmetic says.
TEST(table, operations_do_not_overflow_at_the_largest_parameters) {
  for (const Workload& workload : all()) {
    ParameterValues values;
    for (const Parameter& parameter : workload.parameters) values.emplace(parameter.name, 1);
    for (const Parameter& parameter : workload.parameters) {
      const auto before = static_cast<double>(workload.operations(values));
      values.insert_or_assign(std::string(parameter.name), parameter.max);
      const auto after = static_cast<double>(workload.operations(values));
      const auto max = static_cast<double>(parameter.max);
      const bool grows_faster = workload.name == "fib"      ? after == 3'672'623'805.0
                                : workload.name == "matmul" ? after == max * max * max
                                                            : false;
      EXPECT_TRUE(after == before || after == before * max || after == before + max - 1 ||
                  grows_faster)
          << workload.name << ' ' << parameter.name;
    }
  }
}

}  // namespace
}  // namespace taskbench::workloads
