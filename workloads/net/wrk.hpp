// wrk(1), a program that loads HTTP servers. Debian has it as the package wrk.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>

namespace taskbench::workloads::net {

/// wrk is missing, has failed, or cannot be understood: that says nothing about the server.
class WrkError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The report of a run in which every request was answered, without errors.
struct WrkReport {
  std::uint64_t requests = 0;
  double requests_per_s = 0;
  std::map<std::string, double> latency_ns;  ///< "p50", "p99", "slowest"
};

/// Parses what `wrk --latency` printed. Throws WrkError if it is something else, and
/// std::runtime_error for errors of the server.
[[nodiscard]] WrkReport parse_wrk(std::string_view output);

/// The version that wrk reports: "debian/4.1.0-3+b2". Throws WrkError.
[[nodiscard]] std::string wrk_version();

struct WrkRun {
  std::uint16_t port;  ///< on the loopback
  std::uint64_t connections;
  unsigned seconds;
};

/// Runs wrk, and blocks the thread meanwhile. Empty if `stop` was requested. Throws as parse_wrk()
/// does.
[[nodiscard]] std::optional<WrkReport> run_wrk(const WrkRun& run, const std::stop_token& stop);

}  // namespace taskbench::workloads::net
