#include "runtime/net/resolve.hpp"

#include <netdb.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "runtime/blocking/spawn_blocking.hpp"
#include "runtime/driver/simulation.hpp"

namespace taskbench::rt::net {
namespace {

using Addresses = std::vector<SocketAddress>;

class ResolveCategory final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "getaddrinfo"; }
  [[nodiscard]] std::string message(int code) const override { return gai_strerror(code); }
};

Addresses look_up(std::string host, const std::string& service) {
  // getaddrinfo would look up what comes before a zero.
  if (host.find('\0') != std::string::npos || service.find('\0') != std::string::npos) {
    throw std::system_error(EAI_NONAME, resolve_category(), "cannot resolve a name with a zero");
  }
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = host.empty() ? AI_PASSIVE : 0;
  // A test knows no names but those of its hosts.
  if (const driver::Simulation* const simulation = driver::simulation()) {
    if (const std::string address = simulation->resolve(host); !address.empty()) host = address;
    hints.ai_flags |= AI_NUMERICHOST;
  }
  addrinfo* found = nullptr;
  const int failure =
      getaddrinfo(host.empty() ? nullptr : host.c_str(), service.c_str(), &hints, &found);
  if (failure != 0) {
    const std::error_code code = failure == EAI_SYSTEM
                                     ? std::error_code(errno, std::system_category())
                                     : std::error_code(failure, resolve_category());
    throw std::system_error(code, "cannot resolve " + host + ":" + service);
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> list(found, freeaddrinfo);
  Addresses addresses;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    addresses.emplace_back(each->ai_addr, each->ai_addrlen);
  }
  return addresses;
}

JoinHandle<Addresses> spawn_look_up(std::string host, std::string service) {
  return spawn_blocking(
      [host = std::move(host), service = std::move(service)] { return look_up(host, service); });
}

}  // namespace

namespace detail {

/// Keeps a call from beginning when the task that waits for it is destroyed.
struct AbortAtEnd {
  explicit AbortAtEnd(AbortHandle handle) noexcept : call(std::move(handle)) {}
  AbortAtEnd(const AbortAtEnd&) = delete;
  AbortAtEnd& operator=(const AbortAtEnd&) = delete;
  ~AbortAtEnd() { call.abort(); }

  AbortHandle call;
};

}  // namespace detail

const std::error_category& resolve_category() noexcept {
  // Never destroyed: a runtime may be one of the static objects that are destroyed later, and wait
  // for a look-up that fails.
  static const ResolveCategory& kCategory = *new ResolveCategory;
  return kCategory;
}

Task<Addresses> resolve(std::string host, std::string service) {
  JoinHandle<Addresses> handle = spawn_look_up(std::move(host), std::move(service));
  const detail::AbortAtEnd given_up(handle.abort_handle());
  co_return co_await handle;
}

}  // namespace taskbench::rt::net
