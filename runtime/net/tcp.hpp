// TCP.
//
//   net::TcpListener listener = net::TcpListener::bind(net::SocketAddress::parse("[::]:8080"));
//   for (;;) rt::spawn(serve(co_await listener.accept()));
#pragma once

#include <netinet/tcp.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <utility>

#include "runtime/net/listener.hpp"
#include "runtime/net/stream.hpp"

namespace taskbench::rt::net {

/// How soon a vanished peer is noticed while nothing is written to it.
struct KeepAlive {
  std::chrono::seconds idle;      ///< silence after which the peer is probed
  std::chrono::seconds interval;  ///< time without an answer after which it is probed again
  int probes;                     ///< unanswered probes after which operations throw ETIMEDOUT
};

namespace detail {
/// An option's value, limited to an int. The system refuses negative values, and more seconds than
/// it can wait.
template <class Duration>
[[nodiscard]] int as_option(Duration time) noexcept {
  using Limits = std::numeric_limits<int>;
  return static_cast<int>(std::clamp<std::int64_t>(time.count(), Limits::min(), Limits::max()));
}
}  // namespace detail

class TcpStream : public Stream {
 public:
  /// Connects to `peer`. Throws std::system_error. Cancellation-safe: gives the connection up.
  [[nodiscard]] static Task<TcpStream> connect(SocketAddress peer);
  /// Takes a socket that is connected already.
  TcpStream(AsyncFd connected, const SocketAddress& peer) noexcept
      : Stream(std::move(connected), peer) {}

  /// Sends each write at once, instead of holding it back until more comes (TCP_NODELAY).
  void set_no_delay(bool on) { set_option(IPPROTO_TCP, TCP_NODELAY, int{on}); }
  [[nodiscard]] bool no_delay() const { return option<int>(IPPROTO_TCP, TCP_NODELAY) != 0; }
  /// Lets the system find out by itself that the peer has vanished (SO_KEEPALIVE).
  void set_keep_alive(bool on) { set_option(SOL_SOCKET, SO_KEEPALIVE, int{on}); }
  [[nodiscard]] bool keep_alive() const { return option<int>(SOL_SOCKET, SO_KEEPALIVE) != 0; }
  /// Switches SO_KEEPALIVE on, with these times instead of the system's, which are hours.
  void set_keep_alive(const KeepAlive& times);
  /// How long written bytes may stay unacknowledged before operations throw ETIMEDOUT
  /// (TCP_USER_TIMEOUT); 0: until the system gives up, after some 15 minutes.
  void set_user_timeout(std::chrono::milliseconds limit) {
    set_option(IPPROTO_TCP, TCP_USER_TIMEOUT, detail::as_option(limit));
  }
  [[nodiscard]] std::chrono::milliseconds user_timeout() const {
    return std::chrono::milliseconds(option<unsigned>(IPPROTO_TCP, TCP_USER_TIMEOUT));
  }
  /// Makes closing drop unsent bytes and reset the connection.
  void reset_on_close() { set_option(SOL_SOCKET, SO_LINGER, linger{.l_onoff = 1, .l_linger = 0}); }
};

inline void TcpStream::set_keep_alive(const KeepAlive& times) {
  set_option(IPPROTO_TCP, TCP_KEEPIDLE, detail::as_option(times.idle));
  set_option(IPPROTO_TCP, TCP_KEEPINTVL, detail::as_option(times.interval));
  set_option(IPPROTO_TCP, TCP_KEEPCNT, times.probes);
  set_keep_alive(true);
}

using TcpListener = Listener<TcpStream>;

}  // namespace taskbench::rt::net
