// What all sockets have: a descriptor, options, and an address of their own.
#pragma once

#include <sys/socket.h>

#include <utility>

#include "runtime/net/address.hpp"
#include "runtime/net/async_fd.hpp"
#include "runtime/net/descriptor.hpp"
#include "runtime/task/task.hpp"

namespace taskbench::rt::net {

/// The base of all sockets. All functions throw std::system_error.
class Socket {
 public:
  [[nodiscard]] int descriptor() const noexcept { return fd_.descriptor(); }
  [[nodiscard]] SocketAddress local_address() const;

  /// setsockopt and getsockopt, for options whose value is a T.
  template <class T>
  void set_option(int level, int name, const T& value) {
    set_option_bytes(level, name, &value, sizeof(value));
  }
  template <class T>
  [[nodiscard]] T option(int level, int name) const {
    T value{};
    option_bytes(level, name, &value, sizeof(value));
    return value;
  }

  /// Asks for kernel buffers of about this size.
  void set_receive_buffer(int bytes) { set_option(SOL_SOCKET, SO_RCVBUF, bytes); }
  void set_send_buffer(int bytes) { set_option(SOL_SOCKET, SO_SNDBUF, bytes); }
  [[nodiscard]] int receive_buffer() const { return option<int>(SOL_SOCKET, SO_RCVBUF); }
  [[nodiscard]] int send_buffer() const { return option<int>(SOL_SOCKET, SO_SNDBUF); }

  /// As in AsyncFd: wait until the socket is ready, without reading or writing.
  [[nodiscard]] auto readable() { return fd_.readable(); }
  [[nodiscard]] auto writable() { return fd_.writable(); }

  /// For operations.
  [[nodiscard]] driver::Registration& registration() const noexcept { return fd_.registration(); }

  /// Gives up the descriptor, which stays open and non-blocking.
  [[nodiscard]] int release() && noexcept { return std::move(fd_).release(); }

 protected:
  explicit Socket(AsyncFd fd) noexcept : fd_(std::move(fd)) {}
  [[nodiscard]] AsyncFd& fd() noexcept { return fd_; }

 private:
  void set_option_bytes(int level, int name, const void* value, socklen_t size);
  void option_bytes(int level, int name, void* value, socklen_t size) const;

  AsyncFd fd_;
};

namespace detail {

/// A socket for `address`: non-blocking, and closed on exec. Throws std::system_error.
[[nodiscard]] Descriptor open_socket(const SocketAddress& address, int type);

/// Two Unix sockets that are connected to each other. Throws std::system_error.
void connect_pair(int (&ends)[2]);

/// Throws std::system_error.
void bind_socket(const Descriptor& socket, const SocketAddress& address);

/// A connected stream socket. Waits while the peer's backlog is full; at a Unix peer it retries
/// until there is room.
[[nodiscard]] Task<AsyncFd> connect_socket(SocketAddress peer);

}  // namespace detail
}  // namespace taskbench::rt::net
