// An HTTP/1.1 server on the loopback interface: HttpSession on the connections of a LoopbackServer,
// with limits for the time that clients take.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/runtime.hpp"
#include "workloads/net/budget.hpp"
#include "workloads/net/http_session.hpp"
#include "workloads/net/loopback.hpp"
#include "workloads/net/patience.hpp"

namespace taskbench::workloads::net {

struct HttpServerLimits {
  HttpLimits request{};
  ServerLimits server{};  ///< clients beyond these limits get 503

  /// Limits for this many known and trusted clients.
  static HttpServerLimits of(std::uint64_t connections);
};

/// Like LoopbackServer, with limits.
class HttpServer {
 public:
  explicit HttpServer(rt::Runtime& runtime, const HttpServerLimits& limits = {});

  [[nodiscard]] std::uint16_t port() const { return server_.port(); }
  /// Requests answered so far.
  [[nodiscard]] std::uint64_t answered() const {
    return answered_.load(std::memory_order_relaxed);  // relaxed: the response was received
  }
  /// Connections cut off because they took too long.
  [[nodiscard]] std::uint64_t cut_off() const { return patience_.cut_off(); }

 private:
  rt::Task<> serve(rt::net::TcpStream stream);
  rt::Task<> refuse(rt::net::TcpStream stream);

  const HttpServerLimits limits_;
  std::atomic<std::uint64_t> answered_{0};
  Budget budget_;
  Patience patience_;
  LoopbackServer server_;  // last: destroyed first, with its connections
};

}  // namespace taskbench::workloads::net
