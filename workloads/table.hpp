// The rows of the table in table.cpp, each defined in the file of its name.
#pragma once

#include "workloads/base/workload.hpp"

namespace taskbench::workloads {

[[nodiscard]] const Workload& chained_spawn();
[[nodiscard]] const Workload& ping_pong();
[[nodiscard]] const Workload& spawn_many();
[[nodiscard]] const Workload& spawn_local();
[[nodiscard]] const Workload& yield_many();
[[nodiscard]] const Workload& fib();
[[nodiscard]] const Workload& skynet();
[[nodiscard]] const Workload& nqueens();
[[nodiscard]] const Workload& matmul();
[[nodiscard]] const Workload& uts_geometric();
[[nodiscard]] const Workload& uts_binomial();
[[nodiscard]] const Workload& sort();
[[nodiscard]] const Workload& channel();
[[nodiscard]] const Workload& imbalance();
[[nodiscard]] const Workload& blocking_calls();
[[nodiscard]] const Workload& fairness();
[[nodiscard]] const Workload& wake_under_load();
[[nodiscard]] const Workload& timer();
[[nodiscard]] const Workload& timeouts();
[[nodiscard]] const Workload& echo();
[[nodiscard]] const Workload& tcp_ping_pong();
[[nodiscard]] const Workload& accept_storm();
[[nodiscard]] const Workload& http_hello();
[[nodiscard]] const Workload& grpc_unary();

}  // namespace taskbench::workloads
