// A server on this machine's loopback, as tasks of a runtime: one accepts, and one serves each
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

/// Belongs to the thread that drives the iterations, which is none of the runtime's.
class LoopbackServer {
 public:
  /// What becomes of a connection. What it throws ends that one only.
  using Serve = std::function<rt::Task<>(rt::net::TcpStream)>;

  /// Throws std::system_error where there is no loopback.
  LoopbackServer(rt::Runtime& runtime, Serve serve)
      : LoopbackServer(runtime, serve, serve, SIZE_MAX) {}
  /// Those that are more than `connections` are for `refuse`, as long as it keeps up.
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
  rt::sync::JoinSet<> connections_;  // the acceptor's, until that has ended
};

/// After the last word: sends no more, and reads on, into nothing, until the client has heard it
/// and ends the connection, or has sent more than one would who listens. To close at once would
/// reset the connection, and the client might not hear that word. The caller limits the time.
rt::Task<> linger(rt::net::TcpStream& stream);

/// Raises this process's limit of descriptors if it has to, so that `more` can be opened. False
/// where that is not permitted; the other throws std::runtime_error then.
[[nodiscard]] bool try_to_make_room_for_descriptors(std::uint64_t more);
void make_room_for_descriptors(std::uint64_t more);

/// Descriptors that this process has.
[[nodiscard]] std::uint64_t descriptor_count();

/// Waits until this process has no more descriptors than `before`, as a server may be about to
/// close its last connections: what is wrong if it keeps them. The runtime's tasks run meanwhile.
[[nodiscard]] std::optional<std::string> lost_descriptors(rt::Runtime& runtime,
                                                          std::uint64_t before);

/// Memory that this process has, as far as it lies in the machine's. 0: unknown.
[[nodiscard]] std::uint64_t resident_bytes();

/// Why there are no sockets here; empty: there are.
[[nodiscard]] std::string why_no_loopback();

}  // namespace taskbench::workloads::net
