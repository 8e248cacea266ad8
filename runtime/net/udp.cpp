#include "runtime/net/udp.hpp"

#include <algorithm>
#include <cerrno>

#include "runtime/net/backoff.hpp"
#include "runtime/net/system.hpp"

namespace taskbench::rt::net {
namespace detail {

Attempt SendDatagram::attempt(UdpSocket& socket, bool) noexcept {
  returned = call_system([&] {
    return system::sendto(socket.descriptor(), data.data, data.size,
                          to != nullptr ? to->data() : nullptr, to != nullptr ? to->size() : 0);
  });
  return returned.would_wait() ? Attempt::again : Attempt::done;
}

void SendDatagram::take(const UdpSocket& socket) const {
  if (returned.value < 0) {
    throw_error(returned.error(), "send to", (to != nullptr ? *to : socket.peer_).text());
  }
}

Attempt SendDatagramTo::attempt(UdpSocket& socket, bool lasting) noexcept {
  const Attempt attempt = SendDatagram::attempt(socket, lasting);
  return to->family() == AF_UNIX ? Attempt::done : attempt;
}

bool SendDatagramTo::take(const UdpSocket& socket) const {
  if (returned.would_wait()) return false;
  SendDatagram::take(socket);
  return true;
}

Attempt ReceiveDatagram::attempt(UdpSocket& socket, bool) noexcept {
  from = AddressBuffer();
  // MSG_TRUNC: the datagram's own size is returned, also when it does not fit
  returned = call_system([&] {
    return system::recvfrom(socket.descriptor(), into.data, into.size, flags | MSG_TRUNC,
                            from.data(), from.size());
  });
  return returned.would_wait() ? Attempt::again : Attempt::done;
}

Datagram ReceiveDatagram::take(const UdpSocket& socket) const {
  if (returned.value < 0) throw_error(returned.error(), "receive from", socket.peer_.text());
  const auto size = static_cast<std::size_t>(returned.value);
  return {std::min(size, into.size), from.take(), size > into.size};
}

}  // namespace detail

UdpSocket UdpSocket::bind(const SocketAddress& address) {
  detail::Descriptor socket = detail::open_socket(address, SOCK_DGRAM);
  detail::bind_socket(socket, address);
  return UdpSocket(AsyncFd::own(std::move(socket)));
}

void UdpSocket::connect(const SocketAddress& peer) {
  if (system::connect(descriptor(), peer.data(), peer.size()) != 0) {
    throw_error(errno, "connect to", peer.text());
  }
  peer_ = peer;
}

Task<> UdpSocket::send_to(ConstBytes data, const SocketAddress& to) {
  for (detail::Backoff backoff;;) {
    const bool is_sent = co_await detail::Operation<detail::SendDatagramTo>(*this, {data, &to});
    if (is_sent) co_return;
    co_await backoff.pause();
  }
}

}  // namespace taskbench::rt::net
