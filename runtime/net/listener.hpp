// Waits for connections, TCP or Unix.
//
// Threads: one task accepts at a time; the listener must not be moved meanwhile.
//
// When there are no descriptors or no memory left (EMFILE, ENFILE, ENOBUFS, ENOMEM), or epoll may
// watch no more (ENOSPC: fs.epoll.max_user_watches), accept() tries again after 1, 2, 4 ... 64 ms,
// and reports the shortage only if it lasts for about a second. The connection waits in the backlog
// meanwhile, or in the listener. So a brief shortage goes unnoticed, and a server that goes on
// after the error does not spin.
#pragma once

#include <sys/socket.h>

#include <optional>
#include <utility>

#include "runtime/net/backoff.hpp"
#include "runtime/net/descriptor.hpp"
#include "runtime/net/socket.hpp"
#include "runtime/task/task.hpp"

namespace taskbench::rt::net {

namespace detail {

/// accept4, once for each connection.
struct Accept : Call<const AsyncFd, Direction::read> {
  struct Accepted {
    Descriptor descriptor{-1};
    SocketAddress peer;
    int error = 0;  // why there is no descriptor, or why it is not watched
  };

  Attempt attempt(const AsyncFd& listening, bool lasting) noexcept;
  [[nodiscard]] Accepted take(const AsyncFd&) const {
    const int error = returned.error();
    return {Descriptor(static_cast<int>(returned.value)),
            error == 0 ? peer.take() : SocketAddress(), error};
  }

  Returned returned{};
  AddressBuffer peer{};
};

/// Whether the error is a shortage of descriptors, memory or watches, which may pass.
[[nodiscard]] bool is_shortage(int error) noexcept;

/// Begins to watch the connection. nullopt: there is none, or a shortage prevents it and the
/// connection stays where it is; `error` tells why. Throws std::system_error for any other reason,
/// and the connection is closed.
[[nodiscard]] std::optional<AsyncFd> watch(Accept::Accepted& accepted);

/// A socket that listens. Throws std::system_error.
[[nodiscard]] AsyncFd listen_at(const SocketAddress& address, int backlog);

}  // namespace detail

template <class Stream>
class Listener : public Socket {
 public:
  /// Begins to listen at `address`; for port 0, local_address() tells the one chosen. Throws
  /// std::system_error. Any other TCP port can be bound again at once after a restart
  /// (SO_REUSEADDR). A Unix path must not exist yet, and is not removed afterwards.
  [[nodiscard]] static Listener bind(const SocketAddress& address, int backlog = SOMAXCONN) {
    return Listener(detail::listen_at(address, backlog));
  }
  /// Takes a socket that listens already, such as one that a service manager hands over.
  explicit Listener(AsyncFd listening) noexcept : Socket(std::move(listening)) {}

  /// The next connection. Throws std::system_error. Cancellation-safe.
  [[nodiscard]] Task<Stream> accept() {
    detail::Backoff backoff;
    for (int attempts = 0;; ++attempts) {
      if (!accepted_.descriptor.is_open()) {
        accepted_ = co_await fd().operation(detail::Accept{});
      }
      if (std::optional<AsyncFd> watched = detail::watch(accepted_)) {
        co_return Stream(*std::move(watched), accepted_.peer);
      }
      if (attempts == kMostAttempts || !detail::is_shortage(accepted_.error)) {
        throw_error(accepted_.error, "accept at", local_address().text());
      }
      co_await backoff.pause();
    }
  }

 private:
  static constexpr int kMostAttempts = 20;  // 63 ms until the pauses are 64 ms, then 14 of these

  // Not in accept(): an accept() that is given up must not lose a connection that is not watched.
  detail::Accept::Accepted accepted_;
};

}  // namespace taskbench::rt::net
