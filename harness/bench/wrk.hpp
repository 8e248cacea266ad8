// wrk(1), a program that loads HTTP servers. Debian's package wrk brings it.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "workloads/base/workload.hpp"

namespace taskbench::harness {

/// What `wrk --latency` printed. Throws workloads::LoadError if that is something else, and
/// std::runtime_error for what the server did wrong.
[[nodiscard]] workloads::LoadReport parse_wrk(std::string_view output);

/// What wrk says of itself: "debian/4.1.0-3+b2". Throws workloads::LoadError.
[[nodiscard]] std::string wrk_version();

/// Blocks the thread; nothing is returned if `stop` was set. Throws as parse_wrk() does.
[[nodiscard]] std::optional<workloads::LoadReport> run_wrk(const workloads::LoadRun& run,
                                                           const std::stop_token& stop);

}  // namespace taskbench::harness
