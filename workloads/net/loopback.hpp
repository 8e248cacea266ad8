// A server on the loopback interface, as tasks of a runtime: one accepts, and one serves each
// connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "runtime/net/tcp.hpp"
#include "runtime/runtime.hpp"
#include "runtime/sync/join_set.hpp"

namespace taskbench::workloads::net {

/// Belongs to the thread that drives the iterations, which is not one of the runtime's.
class LoopbackServer {
 public:
  /// Serves a connection. An exception ends only that connection.
  using Serve = std::function<rt::Task<>(rt::net::TcpStream)>;

  /// Throws std::system_error if there is no loopback interface.
  LoopbackServer(rt::Runtime& runtime, Serve serve)
      : LoopbackServer(runtime, serve, serve, SIZE_MAX) {}
  /// Connections beyond `connections` go to `refuse`.
  LoopbackServer(rt::Runtime& runtime, Serve serve, Serve refuse, std::size_t connections);
  /// Ends all connections, and waits for their tasks.
  ~LoopbackServer();

  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  rt::Task<> start();
  rt::Task<> accept_all();
  rt::Task<> stop();

  rt::Runtime& runtime_;
  const Serve serve_;
  const Serve refuse_;
  const std::size_t most_connections_;
  std::optional<rt::net::TcpListener> listener_;
  std::uint16_t port_ = 0;
  std::optional<rt::JoinHandle<void>> acceptor_;
  rt::sync::JoinSet<> connections_;  // belongs to the acceptor until that has ended
};

/// Waits for the client to end the connection after the server's last message: sends no more, and
/// discards incoming data, until the client has ended it or has sent more than a client would that
/// reads. Closing at once would reset the connection, and the client might not get that message.
/// The caller limits the time.
rt::Task<> linger(rt::net::TcpStream& stream);

/// Raises this process's descriptor limit if necessary, so that `more` can be opened. Returns false
/// if that is not permitted; make_room_for_descriptors() throws std::runtime_error.
[[nodiscard]] bool try_to_make_room_for_descriptors(std::uint64_t more);
void make_room_for_descriptors(std::uint64_t more);

/// The number of descriptors that this process has open.
[[nodiscard]] std::uint64_t descriptor_count();

/// Waits until this process has no more descriptors than `before`, since a server may still be
/// closing its last connections. Returns a description of the error if it keeps them. The runtime's
/// tasks run meanwhile.
[[nodiscard]] std::optional<std::string> lost_descriptors(rt::Runtime& runtime,
                                                          std::uint64_t before);

/// The resident memory of this process. 0: unknown.
[[nodiscard]] std::uint64_t resident_bytes();

/// Why there are no sockets here; empty if there are.
[[nodiscard]] std::string why_no_loopback();

}  // namespace taskbench::workloads::net
