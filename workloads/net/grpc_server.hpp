// A gRPC server on the loopback interface: a task for each connection, which reads and writes, and
// one for each call, which computes the reply.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>

#include "runtime/runtime.hpp"
#include "runtime/sync/notify.hpp"
#include "workloads/net/budget.hpp"
#include "workloads/net/grpc_session.hpp"
#include "workloads/net/loopback.hpp"
#include "workloads/net/patience.hpp"

namespace taskbench::workloads::net {

/// A method. An exception becomes the status `unknown`, without details for the caller. Its task is
/// aborted when the deadline has passed or the caller has given up.
using GrpcMethod = std::function<rt::Task<GrpcReply>(GrpcRequest)>;
/// Methods by their paths.
using GrpcMethods = std::map<std::string, GrpcMethod, std::less<>>;

/// Called with the path of a method and its exception. Called from any thread; must not throw.
using GrpcOnFailure = std::function<void(std::string_view path, const std::exception_ptr&)>;
/// Writes one line to standard error.
void say_on_stderr(std::string_view path, const std::exception_ptr& failure);

struct GrpcServerLimits {
  GrpcLimits session{};
  /// Excess or idle connections are sent GOAWAY; calls that are too large get RESOURCE_EXHAUSTED.
  ServerLimits server{};
  /// Called for methods that throw, since callers do not learn the reason.
  GrpcOnFailure on_failure = say_on_stderr;

  /// Limits for this many known and trusted clients.
  static GrpcServerLimits of(std::uint64_t connections);
};

/// Like LoopbackServer, but on destruction calls in progress have as long as a client has.
class GrpcServer {
 public:
  GrpcServer(rt::Runtime& runtime, GrpcMethods methods, const GrpcServerLimits& limits = {});
  ~GrpcServer();

  [[nodiscard]] std::uint16_t port() const { return server_.port(); }
  /// The number of calls that methods have replied to.
  [[nodiscard]] std::uint64_t answered() const {
    return answered_.load(std::memory_order_relaxed);  // relaxed: the reply was received
  }
  /// Connections cut off because they took too long.
  [[nodiscard]] std::uint64_t cut_off() const { return patience_.cut_off(); }

 private:
  struct Service;
  struct Answer;
  class Connection;

  rt::Task<> serve(rt::net::TcpStream stream);
  rt::Task<> refuse(rt::net::TcpStream stream);
  rt::Task<> drain();
  rt::Task<> wait_until_all_have_gone();

  rt::Runtime& runtime_;
  const GrpcServerLimits limits_;
  Budget budget_;
  const std::shared_ptr<const Service> service_;  // shared with the calls
  std::atomic<std::uint64_t> answered_{0};
  std::mutex mutex_;
  bool is_draining_ = false;                     // guarded by mutex_
  std::unordered_set<Connection*> connections_;  // guarded by mutex_
  rt::sync::Notify one_has_gone_;
  Patience patience_;
  LoopbackServer server_;  // last: destroyed first, with its connections
};

}  // namespace taskbench::workloads::net
