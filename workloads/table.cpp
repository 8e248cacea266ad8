#include "workloads/table.hpp"

#include <algorithm>
#include <array>

#include "workloads/base/workload.hpp"

namespace taskbench::workloads {

std::span<const Workload> all() {
  static const std::array kTable{
      chained_spawn(),   ping_pong(),     spawn_many(),     spawn_local(),
      yield_many(),      fib(),           skynet(),         nqueens(),
      matmul(),          uts_geometric(), uts_binomial(),   sort(),
      channel(),         imbalance(),     blocking_calls(), fairness(),
      wake_under_load(), timer(),         timeouts(),       echo(),
      tcp_ping_pong(),   accept_storm(),  http_hello(),     grpc_unary(),
  };
  return kTable;
}

const Workload* find(std::string_view name) {
  const auto table = all();
  const auto row = std::ranges::find(table, name, &Workload::name);
  return row == table.end() ? nullptr : &*row;
}

ParameterValues defaults(const Workload& workload) {
  ParameterValues values;
  for (const Parameter& parameter : workload.parameters) {
    values.emplace(parameter.name, parameter.default_value);
  }
  return values;
}

}  // namespace taskbench::workloads
