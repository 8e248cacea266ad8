// UDP.
//
// Threads: as in io.hpp: one task may receive while another sends. The socket must not be moved
// while an operation is under way, and must outlive it. Every operation is cancellation-safe.
#pragma once

#include <cstddef>
#include <utility>

#include "runtime/net/address.hpp"
#include "runtime/net/buffers.hpp"
#include "runtime/net/socket.hpp"
#include "runtime/task/task.hpp"

namespace taskbench::rt::net {

/// A datagram that was received.
struct Datagram {
  std::size_t size;  ///< of the part that was stored
  SocketAddress from;
  bool is_cut;  ///< the datagram was longer; the rest is gone
};

class UdpSocket;

namespace detail {

struct SendDatagram : Call<UdpSocket, Direction::write> {
  Attempt attempt(UdpSocket& socket, bool lasting) noexcept;
  void take(const UdpSocket& socket) const;

  SendDatagram(ConstBytes data_, const SocketAddress* to_) noexcept : data(data_), to(to_) {}
  ConstBytes data;
  const SocketAddress* to;  // null: to the peer it is connected to
  Returned returned{};
};

/// The same to an address. A Unix receiver without room ends the call: the system announces only
/// room of the sender, which is there again as soon as the datagram has been refused.
struct SendDatagramTo : SendDatagram {
  using SendDatagram::SendDatagram;
  Attempt attempt(UdpSocket& socket, bool lasting) noexcept;
  /// False: the receiver has no room.
  [[nodiscard]] bool take(const UdpSocket& socket) const;
};

struct ReceiveDatagram : Call<UdpSocket, Direction::read> {
  Attempt attempt(UdpSocket& socket, bool lasting) noexcept;
  [[nodiscard]] Datagram take(const UdpSocket& socket) const;

  ReceiveDatagram(MutableBytes into_, int flags_) noexcept : into(into_), flags(flags_) {}
  MutableBytes into;
  int flags;
  Returned returned{};  // the size of the datagram
  AddressBuffer from{};
};

}  // namespace detail

class UdpSocket : public Socket {
 public:
  /// A socket at `address`; for port 0, local_address() tells the one chosen. Throws
  /// std::system_error.
  [[nodiscard]] static UdpSocket bind(const SocketAddress& address);
  /// Takes a socket that exists already.
  explicit UdpSocket(AsyncFd socket) noexcept : Socket(std::move(socket)) {}

  /// Sets the peer that send() sends to, and the only one to receive from. Throws
  /// std::system_error.
  void connect(const SocketAddress& peer);

  /// co_await sends one datagram. Throws std::system_error; on a connected socket also for an
  /// earlier datagram that nobody received (ECONNREFUSED).
  [[nodiscard]] detail::Operation<detail::SendDatagram> send(ConstBytes data) {
    return {*this, {data, nullptr}};
  }
  /// The caller keeps `to` until the datagram is sent. While a Unix receiver has no room, it tries
  /// again after 1, 2, 4 ... 64 ms.
  [[nodiscard]] Task<> send_to(ConstBytes data, const SocketAddress& to);
  /// co_await returns the next Datagram. Throws as send() does.
  [[nodiscard]] auto receive(MutableBytes into) { return receiving(into, 0); }
  /// Receives without consuming: the next receive() gets the same datagram.
  [[nodiscard]] auto peek(MutableBytes into) { return receiving(into, MSG_PEEK); }

  /// Allows sending to broadcast addresses (SO_BROADCAST).
  void set_broadcast(bool on) { set_option(SOL_SOCKET, SO_BROADCAST, int{on}); }

 private:
  [[nodiscard]] detail::Operation<detail::ReceiveDatagram> receiving(MutableBytes into, int flags) {
    return {*this, {into, flags}};
  }

  friend detail::SendDatagram;
  friend detail::ReceiveDatagram;
  SocketAddress peer_;
};

}  // namespace taskbench::rt::net
