// wrk(1), a program that loads HTTP servers. Debian's package wrk brings it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>

namespace taskbench::workloads::net {

/// wrk is missing, failed, or cannot be understood: that says nothing of the server.
class WrkError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Of a run in which every request was answered, and well.
struct WrkReport {
  std::uint64_t requests = 0;
  double requests_per_s = 0;
  std::map<std::string, double> latency_ns;  ///< "p50", "p99", "slowest"
};

/// What `wrk --latency` printed. Throws WrkError if that is something else, and std::runtime_error
/// for what the server did wrong.
[[nodiscard]] WrkReport parse_wrk(std::string_view output);

/// What wrk says of itself: "debian/4.1.0-3+b2". Throws WrkError.
[[nodiscard]] std::string wrk_version();

struct WrkRun {
  std::uint16_t port;  ///< on the loopback
  std::uint64_t connections;
  unsigned seconds;
};

/// Blocks the thread; nothing is returned if `stop` was set. Throws as parse_wrk() does.
[[nodiscard]] std::optional<WrkReport> run_wrk(const WrkRun& run, const std::stop_token& stop);

}  // namespace taskbench::workloads::net
