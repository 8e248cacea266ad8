// A gRPC client: a connection for concurrent calls of any number of tasks.
//
//   GrpcClient client = co_await GrpcClient::connect(address);
//   const GrpcReply reply = co_await client.call(request);
//
// Threads: call() may be awaited by several tasks at once; connect(), close() and the destructor
// belong to one. The client must outlive its calls.
#pragma once

#include <memory>

#include "runtime/net/address.hpp"
#include "runtime/runtime.hpp"
#include "workloads/net/grpc_session.hpp"

namespace taskbench::workloads::net {

class GrpcClient {
 public:
  /// Connects to a server. Throws std::system_error.
  [[nodiscard]] static rt::Task<GrpcClient> connect(rt::net::SocketAddress server,
                                                    GrpcLimits limits = {});
  GrpcClient(GrpcClient&&) noexcept;
  /// Ends the connection at once.
  ~GrpcClient();

  /// Makes a call. Its status is `unavailable` if the connection has ended or ends meanwhile. A
  /// call that is given up, because of its deadline or because its task is aborted, is cancelled at
  /// the server.
  [[nodiscard]] rt::Task<GrpcReply> call(GrpcRequest request);

  /// Waits for calls in progress; new ones are `unavailable`.
  rt::Task<> close();

 private:
  struct Order;
  class Connection;
  struct Shared;
  explicit GrpcClient(std::unique_ptr<Shared> shared) noexcept;

  std::unique_ptr<Shared> shared_;
};

}  // namespace taskbench::workloads::net
