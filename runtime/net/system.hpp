// Calls on sockets: the system's, or those of the simulation that a test's thread is in. The number
// of a descriptor tells a test's socket from one of the system.
//
// Each returns what the system call of that name returns, and sets errno. A program without tests
// pays only for the comparison of the number.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <type_traits>

#include "runtime/base/socket_calls.hpp"
#include "runtime/driver/simulation.hpp"
#include "runtime/net/buffers.hpp"

namespace taskbench::rt::net::system {

using driver::Simulation;

[[nodiscard]] inline bool is_simulated(int descriptor) noexcept {
  return __builtin_expect(descriptor >= driver::kFirstSimulated, 0);
}

/// Calls the simulation, and returns its result in the system's form. A socket that has outlived
/// its simulation counts as closed.
template <class Result, class... Parameter>
[[gnu::noinline, gnu::cold]] Result simulate(Result (Simulation::*function)(Parameter...),
                                             std::type_identity_t<Parameter>... arguments) {
  Simulation* const simulation = driver::simulation();
  const Result returned = simulation == nullptr ? -EBADF : (simulation->*function)(arguments...);
  if (returned >= 0) return returned;
  errno = static_cast<int>(-returned);
  return -1;
}

/// Whether the next call on the socket would report, and so forget, an error.
inline bool has_error(int descriptor) {
  pollfd asked{.fd = descriptor, .events = 0, .revents = 0};
  static_cast<void>(simulate(&Simulation::poll, &asked));
  return (asked.revents & POLLERR) != 0;
}

/// recvmsg or sendmsg: `transfer(data, size)` for each buffer in turn, until one falls short. An
/// error that follows some bytes is left for the next call.
template <class Transfer>
[[gnu::noinline, gnu::cold]] ssize_t simulate_each(int descriptor, Buffers buffers,
                                                   Transfer transfer) {
  ssize_t sum = 0;
  for (const iovec& buffer : buffers) {
    if (buffer.iov_len == 0) continue;
    if (sum > 0 && has_error(descriptor)) break;
    const ssize_t moved = transfer(buffer.iov_base, buffer.iov_len);
    if (moved < 0) return sum == 0 ? moved : sum;
    sum += moved;
    if (static_cast<std::size_t>(moved) < buffer.iov_len) break;
  }
  return sum;
}

inline int socket(int family, int type) {
  if (driver::simulation() != nullptr) return simulate(&Simulation::socket, family, type);
  return ::socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

inline int socketpair(int family, int type, int* ends) {
  if (driver::simulation() != nullptr) return simulate(&Simulation::socketpair, family, type, ends);
  return ::socketpair(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends);
}

inline int bind(int descriptor, const sockaddr* address, socklen_t size) {
  if (is_simulated(descriptor)) return simulate(&Simulation::bind, descriptor, address, size);
  return ::bind(descriptor, address, size);
}

inline int listen(int descriptor, int backlog) {
  if (is_simulated(descriptor)) return simulate(&Simulation::listen, descriptor, backlog);
  return ::listen(descriptor, backlog);
}

inline int accept(int descriptor, sockaddr* peer, socklen_t* size) {
  if (is_simulated(descriptor)) return simulate(&Simulation::accept, descriptor, peer, size);
  return ::accept4(descriptor, peer, size, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

inline int connect(int descriptor, const sockaddr* peer, socklen_t size) {
  if (is_simulated(descriptor)) return simulate(&Simulation::connect, descriptor, peer, size);
  return ::connect(descriptor, peer, size);
}

inline ssize_t recvfrom(int descriptor, void* into, std::size_t size, int flags, sockaddr* from,
                        socklen_t* from_size) {
  if (is_simulated(descriptor)) {
    return simulate(&Simulation::recvfrom, descriptor, into, size, flags, from, from_size);
  }
  return ::recvfrom(descriptor, into, size, flags, from, from_size);
}

inline ssize_t sendto(int descriptor, const void* data, std::size_t size, const sockaddr* to,
                      socklen_t to_size) {
  if (is_simulated(descriptor)) {
    return simulate(&Simulation::sendto, descriptor, data, size, to, to_size);
  }
  return ::sendto(descriptor, data, size, MSG_NOSIGNAL, to, to_size);
}

inline ssize_t recv(int descriptor, void* into, std::size_t size, int flags) {
  if (is_simulated(descriptor)) {
    return simulate(&Simulation::recvfrom, descriptor, into, size, flags, nullptr, nullptr);
  }
  return base::system::recv(descriptor, into, size, flags);
}

inline ssize_t send(int descriptor, const void* data, std::size_t size) {
  if (is_simulated(descriptor)) {
    return simulate(&Simulation::sendto, descriptor, data, size, nullptr, 0);
  }
  return base::system::send(descriptor, data, size, MSG_NOSIGNAL);
}

inline ssize_t recvmsg(int descriptor, msghdr* message, Buffers buffers) {
  if (is_simulated(descriptor)) {
    return simulate_each(descriptor, buffers, [descriptor](void* into, std::size_t size) {
      return simulate(&Simulation::recvfrom, descriptor, into, size, 0, nullptr, nullptr);
    });
  }
  return base::system::recvmsg(descriptor, message, 0);
}

inline ssize_t sendmsg(int descriptor, const msghdr* message, Buffers buffers) {
  if (is_simulated(descriptor)) {
    return simulate_each(descriptor, buffers, [descriptor](const void* data, std::size_t size) {
      return simulate(&Simulation::sendto, descriptor, data, size, nullptr, 0);
    });
  }
  return base::system::sendmsg(descriptor, message, MSG_NOSIGNAL);
}

inline int shutdown(int descriptor, int how) {
  if (is_simulated(descriptor)) return simulate(&Simulation::shutdown, descriptor, how);
  return ::shutdown(descriptor, how);
}

inline int close(int descriptor) {
  if (is_simulated(descriptor)) return simulate(&Simulation::close, descriptor);
  return ::close(descriptor);
}

inline int getsockname(int descriptor, sockaddr* address, socklen_t* size) {
  if (is_simulated(descriptor))
    return simulate(&Simulation::getsockname, descriptor, address, size);
  return ::getsockname(descriptor, address, size);
}

inline int setsockopt(int descriptor, int level, int name, const void* value, socklen_t size) {
  if (is_simulated(descriptor)) {
    return simulate(&Simulation::setsockopt, descriptor, level, name, value, size);
  }
  return ::setsockopt(descriptor, level, name, value, size);
}

inline int getsockopt(int descriptor, int level, int name, void* value, socklen_t* size) {
  if (is_simulated(descriptor)) {
    return simulate(&Simulation::getsockopt, descriptor, level, name, value, size);
  }
  return ::getsockopt(descriptor, level, name, value, size);
}

/// poll(2) of one descriptor, with a time-out of zero.
inline int poll(pollfd* asked) {
  if (is_simulated(asked->fd)) return simulate(&Simulation::poll, asked);
  return ::poll(asked, 1, 0);
}

}  // namespace taskbench::rt::net::system
