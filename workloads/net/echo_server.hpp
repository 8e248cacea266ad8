// A server that sends back what it receives.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "runtime/runtime.hpp"
#include "workloads/net/loopback.hpp"

namespace taskbench::workloads::net {

class EchoServer {
 public:
  EchoServer(rt::Runtime& runtime, std::uint64_t message_bytes)
      : message_bytes_(message_bytes),
        server_(runtime, [this](rt::net::TcpStream stream) { return serve(std::move(stream)); }) {}

  [[nodiscard]] std::uint16_t port() const { return server_.port(); }
  /// Derived from the bytes sent back, since the server knows nothing about messages.
  [[nodiscard]] std::uint64_t answered() const {
    return bytes_.load(std::memory_order_relaxed) / message_bytes_;  // relaxed: it was received
  }

 private:
  rt::Task<> serve(rt::net::TcpStream stream);

  const std::uint64_t message_bytes_;
  std::atomic<std::uint64_t> bytes_{0};
  LoopbackServer server_;
};

}  // namespace taskbench::workloads::net
