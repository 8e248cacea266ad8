// wrk(1), a program that loads HTTP servers. Debian has it as the package wrk.
#pragma once

#include "harness/os/names.hpp"
#include "workloads/base/workload.hpp"

namespace taskbench::harness {

/// Parses what `wrk --latency` printed. Throws workloads::LoadError if it is something else, and
/// std::runtime_error for errors of the server.
[[nodiscard]] workloads::LoadReport parse_wrk(std::string_view output);

/// The version that wrk reports: "debian/4.1.0-3+b2". Throws workloads::LoadError.
[[nodiscard]] std::string wrk_version();

/// Runs wrk, and blocks the thread meanwhile. Empty if `stop` was requested. Throws as parse_wrk()
/// does.
[[nodiscard]] std::optional<workloads::LoadReport> run_wrk(const workloads::LoadRun& run,
                                                           const std::stop_token& stop);

}  // namespace taskbench::harness
