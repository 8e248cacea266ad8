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

}  // namespace

SocketAddress::SocketAddress() noexcept : storage_{}, size_(sizeof(sa_family_t)) {
  storage_.any.sa_family = AF_UNIX;
}

SocketAddress::SocketAddress(const sockaddr* address, socklen_t size) : SocketAddress() {
  // Nothing at all is what the peer of a Unix socket without a name has.
  if (size == 0) return;
  const int family = size < sizeof(sa_family_t) ? AF_UNSPEC : address->sa_family;
  if (family == AF_UNIX && size <= sizeof(sockaddr_un)) {
    sockaddr_un local{};
    std::memcpy(&local, address, size);
    set_local(local, size);
    return;
  }
  const std::size_t whole = family == AF_INET    ? sizeof(sockaddr_in)
                            : family == AF_INET6 ? sizeof(sockaddr_in6)
                                                 : SIZE_MAX;
  if (size < whole) {
    throw std::invalid_argument("an address of a socket is IPv4, IPv6 or Unix, and complete");
  }
  std::memcpy(&storage_, address, whole);
  size_ = static_cast<socklen_t>(whole);
}

void SocketAddress::set_local(const sockaddr_un& address, std::size_t size) {
  size_ = static_cast<socklen_t>(size);
  if (size <= kPathOffset) return;
  local_ = base::Ref(new Local);
  local_->address = address;
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
  SocketAddress made;
  const std::size_t percent = address.find('%');
  const std::string host(address.substr(0, percent));
  if (inet_pton(AF_INET, host.c_str(), &made.storage_.v4.sin_addr) == 1 &&
      percent == std::string_view::npos) {
    made.storage_.v4.sin_family = AF_INET;
    made.storage_.v4.sin_port = htons(port);
    made.size_ = sizeof(sockaddr_in);
    return made;
  }
  made.storage_ = {};
  if (inet_pton(AF_INET6, host.c_str(), &made.storage_.v6.sin6_addr) != 1) {
    refuse_address(address, "neither IPv4 nor IPv6 (a host's name is for rt::net::resolve)");
  }
  if (percent != std::string_view::npos) {
    const auto index = interface_index(std::string(address.substr(percent + 1)));
    if (!index) refuse_address(address, "there is no interface of that name");
    made.storage_.v6.sin6_scope_id = *index;
  }
  made.storage_.v6.sin6_family = AF_INET6;
  made.storage_.v6.sin6_port = htons(port);
  made.size_ = sizeof(sockaddr_in6);
  return made;
}

SocketAddress SocketAddress::unix_path(std::string_view path) {
  sockaddr_un local{};
  local.sun_family = AF_UNIX;
  if (path.empty()) refuse_address(path, "a path must not be empty");
  // One is for the zero that ends a path, or begins an abstract name.
  if (path.size() >= sizeof(local.sun_path)) refuse_address(path, "a path has at most 107 bytes");
  if (path.find('\0') != std::string_view::npos) refuse_address(path, "a path contains no zeros");
  std::memcpy(local.sun_path, path.data(), path.size());
  const bool is_abstract = path.front() == '@';
  if (is_abstract) local.sun_path[0] = '\0';
  SocketAddress made;
  made.set_local(local, kPathOffset + path.size() + (is_abstract ? 0 : 1));
  return made;
}

SocketAddress SocketAddress::loopback(std::uint16_t port) {
  SocketAddress made;
  made.storage_.v4.sin_family = AF_INET;
  made.storage_.v4.sin_port = htons(port);
  made.storage_.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  made.size_ = sizeof(sockaddr_in);
  return made;
}

std::uint16_t SocketAddress::port() const noexcept {
  switch (family()) {
    case AF_INET:
      return ntohs(storage_.v4.sin_port);
    case AF_INET6:
      return ntohs(storage_.v6.sin6_port);
    default:
      return 0;
  }
}

std::string SocketAddress::text() const {
  char host[INET6_ADDRSTRLEN];
  switch (family()) {
    case AF_INET:
      inet_ntop(AF_INET, &storage_.v4.sin_addr, host, sizeof(host));
      return std::string(host) + ':' + std::to_string(port());
    case AF_INET6: {
      inet_ntop(AF_INET6, &storage_.v6.sin6_addr, host, sizeof(host));
      std::string zone;
      if (storage_.v6.sin6_scope_id != 0) zone = '%' + std::to_string(storage_.v6.sin6_scope_id);
      return '[' + (host + zone) + "]:" + std::to_string(port());
    }
    default:
      break;
  }
  if (local_ == nullptr) return "a socket without a name";
  const char* const path = local_->address.sun_path;
  const std::size_t length = size_ - kPathOffset;
  if (path[0] == '\0') return '@' + std::string(path + 1, length - 1);
  const std::string name(path, strnlen(path, length));
  return name.front() == '/' ? name : "unix:" + name;
}

bool operator==(const SocketAddress& a, const SocketAddress& b) noexcept {
  if (a.family() != b.family()) return false;
  switch (a.family()) {
    case AF_INET:
      return a.port() == b.port() && a.storage_.v4.sin_addr.s_addr == b.storage_.v4.sin_addr.s_addr;
    case AF_INET6:
      return a.port() == b.port() && a.storage_.v6.sin6_scope_id == b.storage_.v6.sin6_scope_id &&
             std::memcmp(&a.storage_.v6.sin6_addr, &b.storage_.v6.sin6_addr, sizeof(in6_addr)) == 0;
    default:
      // The system may count the zero at the end of a path, or not.
      return a.text() == b.text();
  }
}

}  // namespace taskbench::rt::net
