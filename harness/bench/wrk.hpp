// wrk(1), a load generator for HTTP servers. Debian's package wrk contains it.
#pragma once

#include "harness/os/names.hpp"
#include "workloads/base/workload.hpp"

namespace taskbench::harness {

/// The version that wrk reports: "debian/4.1.0-3+b2". Throws workloads::LoadError.
[[nodiscard]] std::string wrk_version();

/// Runs wrk, and blocks the thread meanwhile. Empty if `stop` was requested. Throws
/// workloads::LoadError for output that is not wrk's, and std::runtime_error for errors of the
/// server.
[[nodiscard]] std::optional<workloads::LoadReport> run_wrk(const workloads::LoadRun& run,
                                                           const std::stop_token& stop);

}  // namespace taskbench::harness
