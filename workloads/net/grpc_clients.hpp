// Clients that repeat one call, with several concurrent calls on each connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "workloads/net/clients.hpp"
#include "workloads/net/grpc.hpp"

namespace taskbench::workloads::net {

/// A call, and the expected reply.
struct GrpcExchange {
  GrpcRequest request;
  std::string reply;
};

class GrpcClients final : public Clients {
 public:
  /// At most `streams` calls at a time are in progress on each connection.
  GrpcClients(GrpcExchange exchange, std::uint64_t connections, std::uint64_t streams);
  ~GrpcClients() override;

 private:
  struct Connection;

  void open_all(std::uint16_t port) override;
  void exchange_all(std::uint64_t count) override;
  void call(Connection& connection, std::uint64_t slot);
  static void send(Connection& connection);
  /// Reads what has arrived.
  static void receive(Connection& connection);

  const GrpcExchange exchange_;
  const std::uint64_t wanted_;
  const std::uint64_t streams_;
  Epoll epoll_;
  std::vector<std::unique_ptr<Connection>> connections_;
};

}  // namespace taskbench::workloads::net
