// What addresses of sockets mean in the network of a test.
#pragma once

#include <netinet/in.h>

#include <cstdint>

#include "runtime/net/address.hpp"

namespace taskbench::rt::testing {

[[nodiscard]] inline const in6_addr& v6_of(const net::SocketAddress& address) {
  return reinterpret_cast<const sockaddr_in6*>(address.data())->sin6_addr;
}

[[nodiscard]] inline std::uint32_t v4_of(const net::SocketAddress& address) {
  return ntohl(reinterpret_cast<const sockaddr_in*>(address.data())->sin_addr.s_addr);
}

/// True for a Unix address, too: its socket is on the same host.
[[nodiscard]] inline bool is_loopback(const net::SocketAddress& address) {
  switch (address.family()) {
    case AF_INET:
      return v4_of(address) >> 24 == IN_LOOPBACKNET;
    case AF_INET6:
      return IN6_IS_ADDR_LOOPBACK(&v6_of(address));
    default:
      return true;
  }
}

/// Not for a Unix address.
[[nodiscard]] inline bool is_wildcard(const net::SocketAddress& address) {
  return address.family() == AF_INET ? v4_of(address) == INADDR_ANY
                                     : IN6_IS_ADDR_UNSPECIFIED(&v6_of(address));
}

/// Whether a socket that is bound to `own` gets what is sent to `to`, which has the same port or
/// path. One that is bound to all addresses of IPv6 gets IPv4, too.
[[nodiscard]] inline bool hears(const net::SocketAddress& own, const net::SocketAddress& to) {
  if (own.family() == AF_UNIX) return true;
  if (is_wildcard(own)) return own.family() == AF_INET6 || to.family() == AF_INET;
  return own == to;
}

/// Not for a Unix address.
[[nodiscard]] inline net::SocketAddress with_port(const net::SocketAddress& address,
                                                  std::uint16_t port) {
  if (address.family() == AF_INET) {
    auto v4 = *reinterpret_cast<const sockaddr_in*>(address.data());
    v4.sin_port = htons(port);
    return {reinterpret_cast<const sockaddr*>(&v4), sizeof(v4)};
  }
  auto v6 = *reinterpret_cast<const sockaddr_in6*>(address.data());
  v6.sin6_port = htons(port);
  return {reinterpret_cast<const sockaddr*>(&v6), sizeof(v6)};
}

}  // namespace taskbench::rt::testing
