// The address of a socket: IPv4 or IPv6 with a port, or Unix.
//
//   net::SocketAddress::parse("127.0.0.1:80")   "[::1]:80"  "[fe80::1%eth0]:80"
//   net::SocketAddress::parse("/run/it.sock")   "unix:it.sock"  "@abstract"
//
// parse() reads what text() prints.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/base/shared.hpp"

namespace taskbench::rt::net {

class SocketAddress {
 public:
  /// The address of a Unix socket that has no name.
  SocketAddress() noexcept;
  /// Copies the system's form. Throws std::invalid_argument for any other address family.
  SocketAddress(const sockaddr* address, socklen_t size);

  /// Reads one of the forms above; for host names see rt::net::resolve. Throws
  /// std::invalid_argument.
  [[nodiscard]] static SocketAddress parse(std::string_view text);
  /// The address alone, without brackets: "127.0.0.1", "::1". Throws std::invalid_argument.
  [[nodiscard]] static SocketAddress ip(std::string_view address, std::uint16_t port);
  /// A path in the file system or, after a leading `@`, a name in the abstract namespace. Throws
  /// std::invalid_argument if it is longer than 107 characters.
  [[nodiscard]] static SocketAddress unix_path(std::string_view path);
  /// This machine's own address, 127.0.0.1; port 0 stands for any free port.
  [[nodiscard]] static SocketAddress loopback(std::uint16_t port = 0);

  /// AF_INET, AF_INET6 or AF_UNIX.
  [[nodiscard]] int family() const noexcept { return data()->sa_family; }
  /// 0 for a Unix address.
  [[nodiscard]] std::uint16_t port() const noexcept;
  [[nodiscard]] std::string text() const;

  [[nodiscard]] const sockaddr* data() const noexcept {
    return longer_ == nullptr ? reinterpret_cast<const sockaddr*>(&v4_)
                              : reinterpret_cast<const sockaddr*>(longer_.get() + 1);
  }
  [[nodiscard]] socklen_t size() const noexcept;

  friend bool operator==(const SocketAddress& a, const SocketAddress& b) noexcept;

 private:
  // Copies share an address that is longer than IPv4's, as each connection has one.
  struct Longer final : base::Shared {
    static void* operator new(std::size_t bytes, std::size_t more) {
      return ::operator new(bytes + more);
    }
    static void operator delete(void* memory) { ::operator delete(memory); }

    socklen_t size;  // of the address, which follows this struct
  };
  static_assert(sizeof(Longer) == 8);

  sockaddr_in v4_{};  // or only the family AF_UNIX
  base::Ref<Longer> longer_;
};

/// For system calls that fill an address in.
class AddressBuffer {
 public:
  [[nodiscard]] sockaddr* data() noexcept { return reinterpret_cast<sockaddr*>(&longest_); }
  [[nodiscard]] socklen_t* size() noexcept { return &size_; }
  /// The address that was filled in.
  [[nodiscard]] SocketAddress take() const {
    // The size of a Unix path of 108 bytes counts a zero that has no room (unix(7), BUGS).
    const socklen_t size = std::min<socklen_t>(size_, sizeof(longest_));
    return SocketAddress(reinterpret_cast<const sockaddr*>(&longest_), size);
  }

 private:
  sockaddr_un longest_{};
  socklen_t size_ = sizeof(longest_);
};

}  // namespace taskbench::rt::net
