#include "runtime/net/listener.hpp"

#include <cerrno>
#include <system_error>

#include "runtime/net/system.hpp"

namespace taskbench::rt::net::detail {
namespace {

/// Network errors that accept() reports belong to a connection that is gone; the next may be ready.
bool is_of_the_connection(int error) {
  switch (error) {
    case ECONNABORTED:
    case ENETDOWN:
    case EPROTO:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case ENETUNREACH:
      return true;
    default:
      return false;
  }
}

}  // namespace

Attempt Accept::attempt(const AsyncFd& listening, bool) noexcept {
  do {
    returned = call_system(
        [&] { return system::accept(listening.descriptor(), peer.data(), peer.size()); });
  } while (is_of_the_connection(returned.error()));
  return returned.would_wait() ? Attempt::again : Attempt::done;
}

bool is_shortage(int error) noexcept {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM ||
         error == ENOSPC;
}

std::optional<AsyncFd> watch(Accept::Accepted& accepted) {
  if (!accepted.descriptor.is_open()) return std::nullopt;
  Descriptor connection = std::move(accepted.descriptor);
  try {
    return AsyncFd::own(std::move(connection));
  } catch (const std::system_error& failure) {
    accepted.error = failure.code().value();
    if (!is_shortage(accepted.error)) throw;
  }
  accepted.descriptor = std::move(connection);
  return std::nullopt;
}

AsyncFd listen_at(const SocketAddress& address, int backlog) {
  Descriptor socket = open_socket(address, SOCK_STREAM);
  if (address.port() != 0) {
    const int on = 1;
    system::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  }
  bind_socket(socket, address);
  if (system::listen(socket.get(), backlog) != 0) throw_error(errno, "listen at", address.text());
  return AsyncFd::own(std::move(socket));
}

}  // namespace taskbench::rt::net::detail
