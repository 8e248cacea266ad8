// An HTTP/1.1 server on the loopback: HttpSession on the connections of a LoopbackServer, with a
// limit for the time that a client may take.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_set>

#include "runtime/runtime.hpp"
#include "workloads/net/http_session.hpp"
#include "workloads/net/loopback.hpp"

namespace taskbench::workloads::net {

struct HttpServerLimits {
  HttpLimits request;
  /// From the first byte of a request to its last, and for a client to take an answer. Clients that
  /// need longer are cut off at most an eighth later. Between requests they may take any time.
  std::chrono::milliseconds patience{10'000};
};

/// As LoopbackServer.
class HttpServer {
 public:
  explicit HttpServer(rt::Runtime& runtime, const HttpServerLimits& limits = {});
  ~HttpServer();

  [[nodiscard]] std::uint16_t port() const { return server_->port(); }
  /// Requests answered so far.
  [[nodiscard]] std::uint64_t answered() const {
    return answered_.load(std::memory_order_relaxed);  // relaxed: the answer was heard of
  }
  /// Connections cut off because they took too long.
  [[nodiscard]] std::uint64_t cut_off() const { return cut_off_.load(std::memory_order_relaxed); }

 private:
  class Connection;

  rt::Task<> serve(rt::net::TcpStream stream);
  rt::Task<> watch();
  rt::Task<> stop_watching();

  rt::Runtime& runtime_;
  const HttpServerLimits limits_;
  std::atomic<std::uint64_t> answered_{0};
  std::atomic<std::uint64_t> cut_off_{0};
  // One sleep a server costs less than a timer for each read. Time is counted in its looks.
  std::atomic<std::uint64_t> looks_{0};
  std::mutex mutex_;
  std::unordered_set<Connection*> connections_;  // guarded by mutex_
  std::optional<LoopbackServer> server_;
  std::optional<rt::JoinHandle<void>> watch_;
};

}  // namespace taskbench::workloads::net
