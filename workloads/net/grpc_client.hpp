// A gRPC client: a connection that any number of tasks call on at the same time.
//
//   GrpcClient client = co_await GrpcClient::connect(address);
//   const GrpcReply reply = co_await client.call(request);
//
// Threads: call() may be awaited by several tasks at once; connect(), close() and the rest belong
// to one. It outlives its calls.
#pragma once

#include <atomic>
#include <memory>

#include "runtime/net/address.hpp"
#include "runtime/runtime.hpp"
#include "workloads/net/grpc_session.hpp"

namespace taskbench::workloads::net {

class GrpcClient {
 public:
  /// Throws std::system_error.
  [[nodiscard]] static rt::Task<GrpcClient> connect(rt::net::SocketAddress server,
                                                    GrpcLimits limits = {});
  GrpcClient(GrpcClient&&) noexcept;
  /// Ends the connection at once.
  ~GrpcClient();

  /// `unavailable` if the connection ends meanwhile, or has ended. A call that is given up, by its
  /// deadline or because its task is aborted, is cancelled at the server.
  [[nodiscard]] rt::Task<GrpcReply> call(GrpcRequest request);

  /// Waits for the calls that are under way; others are `unavailable` from now on.
  rt::Task<> close();

 private:
  struct Order;
  class Connection;
  struct Shared;
  explicit GrpcClient(std::unique_ptr<Shared> shared) noexcept;

  std::unique_ptr<Shared> shared_;
};

}  // namespace taskbench::workloads::net
