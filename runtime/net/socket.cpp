#include "runtime/net/socket.hpp"

#include <cerrno>
#include <chrono>

#include "runtime/net/backoff.hpp"
#include "runtime/net/system.hpp"

namespace taskbench::rt::net {

SocketAddress Socket::local_address() const {
  AddressBuffer address;
  if (system::getsockname(descriptor(), address.data(), address.size()) != 0) {
    throw_error(errno, "find the address of", "a socket");
  }
  return address.take();
}

void Socket::set_option_bytes(int level, int name, const void* value, socklen_t size) {
  if (system::setsockopt(descriptor(), level, name, value, size) == 0) return;
  throw_error(errno, "set an option of", local_address().text());
}

void Socket::option_bytes(int level, int name, void* value, socklen_t size) const {
  if (system::getsockopt(descriptor(), level, name, value, &size) == 0) return;
  throw_error(errno, "read an option of", local_address().text());
}

namespace detail {

Descriptor open_socket(const SocketAddress& address, int type) {
  Descriptor made(system::socket(address.family(), type));
  if (made.get() < 0) throw_error(errno, "make a socket for", address.text());
  return made;
}

void connect_pair(int (&ends)[2]) {
  if (system::socketpair(AF_UNIX, SOCK_STREAM, ends) == 0) return;
  throw_error(errno, "make", "a pair of sockets");
}

void bind_socket(const Descriptor& socket, const SocketAddress& address) {
  if (system::bind(socket.get(), address.data(), address.size()) == 0) return;
  throw_error(errno, "bind to", address.text());
}

Task<AsyncFd> connect_socket(SocketAddress peer) {
  Descriptor socket = open_socket(peer, SOCK_STREAM);
  int error = 0;
  for (Backoff backoff;;) {
    error = system::connect(socket.get(), peer.data(), peer.size()) == 0 ? 0 : errno;
    if (error != EAGAIN) break;
    co_await backoff.pause();
  }
  // Watched from now on, not earlier: epoll reports a socket that is not even connecting as hung
  // up.
  AsyncFd connecting = AsyncFd::own(std::move(socket));
  if (error == EINPROGRESS || error == EINTR) {
    co_await connecting.writable();
    socklen_t size = sizeof(error);
    system::getsockopt(connecting.descriptor(), SOL_SOCKET, SO_ERROR, &error, &size);
  }
  if (error != 0) throw_error(error, "connect to", peer.text());
  co_return connecting;
}

}  // namespace detail
}  // namespace taskbench::rt::net
