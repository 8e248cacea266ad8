#include "runtime/net/address.hpp"

#include <arpa/inet.h>
#include <net/if.h>

#include <charconv>
#include <cstddef>
#include <cstring>
#include <optional>
#include <stdexcept>

namespace taskbench::rt::net {
namespace {

constexpr std::size_t kPathOffset = offsetof(sockaddr_un, sun_path);

[[noreturn]] void refuse_address(std::string_view text, const char* why) {
  throw std::invalid_argument("'" + std::string(text) + "' is not the address of a socket: " + why);
}

template <class Number>
std::optional<Number> whole_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// The zone of an IPv6 address: an interface, by its name or number.
std::optional<std::uint32_t> interface_index(const std::string& name) {
  if (const auto number = whole_number<std::uint32_t>(name)) return number;
  const unsigned index = if_nametoindex(name.c_str());
  return index == 0 ? std::nullopt : std::optional<std::uint32_t>(index);
}

const sockaddr_in6& v6_of(const SocketAddress& address) {
  return *reinterpret_cast<const sockaddr_in6*>(address.data());
}

}  // namespace

SocketAddress::SocketAddress() noexcept { v4_.sin_family = AF_UNIX; }

SocketAddress::SocketAddress(const sockaddr* address, socklen_t size) : SocketAddress() {
  // The peer of a Unix socket without a name has no address at all.
  if (size == 0) return;
  const int family = size < sizeof(sa_family_t) ? AF_UNSPEC : address->sa_family;
  if (family == AF_INET && size >= sizeof(sockaddr_in)) {
    std::memcpy(&v4_, address, sizeof(sockaddr_in));
    return;
  }
  if (family == AF_INET6 && size >= sizeof(sockaddr_in6)) {
    size = sizeof(sockaddr_in6);
  } else if (family != AF_UNIX || size > sizeof(sockaddr_un)) {
    throw std::invalid_argument("an address of a socket is IPv4, IPv6 or Unix, and complete");
  } else if (size <= kPathOffset) {
    return;
  }
  longer_ = base::Ref(new (size) Longer);
  longer_->size = size;
  std::memcpy(static_cast<void*>(longer_.get() + 1), address, size);
}

SocketAddress SocketAddress::parse(std::string_view text) {
  if (text.starts_with("unix:")) return unix_path(text.substr(5));
  if (text.starts_with('/') || text.starts_with('@')) return unix_path(text);
  constexpr const char* kForms = "write 127.0.0.1:80, [::1]:80, /run/it.sock or unix:it.sock";
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) refuse_address(text, kForms);
  const auto port = whole_number<std::uint16_t>(text.substr(colon + 1));
  if (!port) refuse_address(text, "its port is a number from 0 to 65535");
  std::string_view host = text.substr(0, colon);
  const bool in_brackets = host.starts_with('[') && host.ends_with(']');
  if (in_brackets) host = host.substr(1, host.size() - 2);
  if (in_brackets != (host.find(':') != std::string_view::npos)) refuse_address(text, kForms);
  return ip(host, *port);
}

SocketAddress SocketAddress::ip(std::string_view address, std::uint16_t port) {
  if (address.find('\0') != std::string_view::npos) {
    refuse_address(address, "an address contains no zeros");
  }
  const std::size_t percent = address.find('%');
  const std::string host(address.substr(0, percent));
  sockaddr_in v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1 && percent == std::string_view::npos) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    return {reinterpret_cast<const sockaddr*>(&v4), sizeof(v4)};
  }
  sockaddr_in6 v6{};
  if (inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) != 1) {
    refuse_address(address, "neither IPv4 nor IPv6 (a host's name is for rt::net::resolve)");
  }
  if (percent != std::string_view::npos) {
    const auto index = interface_index(std::string(address.substr(percent + 1)));
    if (!index) refuse_address(address, "there is no interface of that name");
    v6.sin6_scope_id = *index;
  }
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  return {reinterpret_cast<const sockaddr*>(&v6), sizeof(v6)};
}

SocketAddress SocketAddress::unix_path(std::string_view path) {
  sockaddr_un local{};
  local.sun_family = AF_UNIX;
  if (path.empty()) refuse_address(path, "a path must not be empty");
  // One byte is for the zero that ends a path, or begins an abstract name.
  if (path.size() >= sizeof(local.sun_path)) refuse_address(path, "a path has at most 107 bytes");
  if (path.find('\0') != std::string_view::npos) refuse_address(path, "a path contains no zeros");
  std::memcpy(local.sun_path, path.data(), path.size());
  const bool is_abstract = path.front() == '@';
  if (is_abstract) local.sun_path[0] = '\0';
  const std::size_t size = kPathOffset + path.size() + (is_abstract ? 0 : 1);
  return {reinterpret_cast<const sockaddr*>(&local), static_cast<socklen_t>(size)};
}

SocketAddress SocketAddress::loopback(std::uint16_t port) {
  SocketAddress made;
  made.v4_.sin_family = AF_INET;
  made.v4_.sin_port = htons(port);
  made.v4_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return made;
}

socklen_t SocketAddress::size() const noexcept {
  if (longer_ != nullptr) return longer_->size;
  return family() == AF_INET ? sizeof(sockaddr_in) : sizeof(sa_family_t);
}

std::uint16_t SocketAddress::port() const noexcept {
  switch (family()) {
    case AF_INET:
      return ntohs(v4_.sin_port);
    case AF_INET6:
      return ntohs(v6_of(*this).sin6_port);
    default:
      return 0;
  }
}

std::string SocketAddress::text() const {
  char host[INET6_ADDRSTRLEN];
  switch (family()) {
    case AF_INET:
      inet_ntop(AF_INET, &v4_.sin_addr, host, sizeof(host));
      return std::string(host) + ':' + std::to_string(port());
    case AF_INET6: {
      const sockaddr_in6& v6 = v6_of(*this);
      inet_ntop(AF_INET6, &v6.sin6_addr, host, sizeof(host));
      std::string zone;
      if (v6.sin6_scope_id != 0) zone = '%' + std::to_string(v6.sin6_scope_id);
      return '[' + (host + zone) + "]:" + std::to_string(port());
    }
    default:
      break;
  }
  if (longer_ == nullptr) return "a socket without a name";
  const char* const path = reinterpret_cast<const sockaddr_un*>(data())->sun_path;
  const std::size_t length = size() - kPathOffset;
  if (path[0] == '\0') return '@' + std::string(path + 1, length - 1);
  const std::string name(path, strnlen(path, length));
  if (name.front() == '/') return name;
  return (name.front() == '@' ? "unix:./" : "unix:") + name;  // "unix:@" is an abstract name
}

bool operator==(const SocketAddress& a, const SocketAddress& b) noexcept {
  if (a.family() != b.family()) return false;
  switch (a.family()) {
    case AF_INET:
      return a.port() == b.port() && a.v4_.sin_addr.s_addr == b.v4_.sin_addr.s_addr;
    case AF_INET6:
      return a.port() == b.port() && v6_of(a).sin6_scope_id == v6_of(b).sin6_scope_id &&
             std::memcmp(&v6_of(a).sin6_addr, &v6_of(b).sin6_addr, sizeof(in6_addr)) == 0;
    default:
      // The system may or may not count the zero at the end of a path.
      return a.text() == b.text();
  }
}

}  // namespace taskbench::rt::net
