// Clients with identical requests: a connection sends the same bytes repeatedly, and expects the
// same response, byte by byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "workloads/net/clients.hpp"

namespace taskbench::workloads::net {

/// The request to repeat, and its expected response.
struct Exchange {
  std::string request;
  std::string response;
  std::size_t varies_at = 0;  ///< position from which that many bytes of the response may differ
  std::size_t varies_bytes = 0;
};

enum class Use {
  again,  ///< each connection is reused for all requests
  once,   ///< each is closed after one; the next request uses a new one
};

class ClosedLoop final : public Clients {
 public:
  /// Of `connections`, `busy` send requests; the others stay idle.
  ClosedLoop(Exchange exchange, std::uint64_t connections, std::uint64_t busy,
             Use use = Use::again);
  ~ClosedLoop() override;
  [[nodiscard]] bool keep_own_descriptors() override { return owns_descriptors_ = true; }

 private:
  struct Connection {
    int descriptor = -1;
    std::size_t received = 0;
    Clock::time_point sent_at{};  ///< or since its opening began
    std::string answer{};
  };

  void open_all(std::uint16_t port) override;
  void exchange_all(std::uint64_t count) override;
  void open(std::uint64_t index);
  void close(Connection& connection);
  void send(std::uint64_t index);
  /// Whether the response is complete. Throws if it is wrong.
  bool receive(Connection& connection);

  const Exchange exchange_;
  const std::uint64_t busy_;
  const Use use_;
  bool owns_descriptors_ = false;
  std::uint16_t port_ = 0;
  Epoll epoll_;
  std::vector<Connection> connections_;
};

}  // namespace taskbench::workloads::net
