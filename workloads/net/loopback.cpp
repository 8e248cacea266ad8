#include "workloads/net/loopback.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "runtime/net/listener.hpp"
#include "runtime/time/sleep.hpp"
#include "workloads/base/countdown.hpp"

namespace taskbench::workloads::net {
namespace {

/// Descriptors for other uses: files, the descriptors of other runtimes.
constexpr std::uint64_t kOtherDescriptors = 100;

constexpr std::size_t kUnheard_bytes = 4 * 1'024 * 1'024;
constexpr std::size_t kUnheardAtOnce_bytes = 16'384;

rt::Task<> pause() { co_await rt::time::sleep(std::chrono::milliseconds(10)); }

}  // namespace

LoopbackServer::LoopbackServer(rt::Runtime& runtime, Serve serve, Serve refuse,
                               std::size_t connections)
    : runtime_(runtime),
      serve_(std::move(serve)),
      refuse_(std::move(refuse)),
      most_connections_(connections) {
  runtime_.block_on(start());
}

LoopbackServer::~LoopbackServer() { runtime_.block_on(stop()); }

rt::Task<> LoopbackServer::start() {
  listener_.emplace(rt::net::TcpListener::bind(rt::net::SocketAddress::loopback()));
  port_ = listener_->local_address().port();
  acceptor_.emplace(rt::spawn(accept_all()));
  co_return;
}

rt::Task<> LoopbackServer::accept_all() {
  for (;;) {
    try {
      rt::net::TcpStream stream = co_await listener_->accept();
      stream.set_no_delay(true);
      while (connections_.try_join_next()) {
      }
      const bool has_room = connections_.size() < most_connections_;
      connections_.spawn((has_room ? serve_ : refuse_)(std::move(stream)));
    } catch (const std::system_error& error) {
      // A shortage may pass, and clients wait in the backlog. accept() has waited before it failed.
      if (!rt::net::detail::is_shortage(error.code().value())) throw;
    }
  }
}

rt::Task<> LoopbackServer::stop() {
  acceptor_->abort();
  try {
    co_await *acceptor_;
  } catch (const std::exception&) {
    // The acceptor was cancelled, or could not accept any more, which the clients have noticed.
  }
  co_await connections_.shutdown();
  listener_.reset();
}

rt::Task<> linger(rt::net::TcpStream& stream) {
  stream.shutdown_write();
  std::vector<char> in(kUnheardAtOnce_bytes);
  std::size_t unheard = 0;
  while (unheard < kUnheard_bytes) {
    const std::size_t size = co_await stream.read(in);
    if (size == 0) co_return;
    unheard += size;
  }
}

bool try_to_make_room_for_descriptors(std::uint64_t more) {
  const rlim_t needed = more + kOtherDescriptors + descriptor_count();
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur >= needed) return true;
  const rlimit raised{needed, std::max(needed, limit.rlim_max)};
  return ::setrlimit(RLIMIT_NOFILE, &raised) == 0;
}

void make_room_for_descriptors(std::uint64_t more) {
  if (try_to_make_room_for_descriptors(more)) return;
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  throw std::runtime_error(
      fmt::format("it needs {} descriptors and may have {}; `ulimit -n` shows the limit, and root "
                  "may raise it",
                  more + kOtherDescriptors + descriptor_count(), limit.rlim_max));
}

std::uint64_t descriptor_count() {
  const std::filesystem::directory_iterator open("/proc/self/fd");
  return static_cast<std::uint64_t>(std::distance(begin(open), end(open)));
}

std::optional<std::string> lost_descriptors(rt::Runtime& runtime, std::uint64_t before) {
  constexpr int kPauses = 3'000;  // half a minute: the machine may be busy
  std::uint64_t now = descriptor_count();
  for (int i = 0; i < kPauses && now > before; ++i) {
    runtime.block_on(pause());
    now = descriptor_count();
  }
  if (now <= before) return {};
  return compare_counts("open descriptors", before, now);
}

std::uint64_t resident_bytes() {
  // This file is computed at each read, unlike /proc/self/statm.
  std::ifstream rollup("/proc/self/smaps_rollup");
  std::string word;
  std::uint64_t kib = 0;
  while (rollup >> word && word != "Rss:") {
  }
  rollup >> kib;
  return 1'024 * kib;
}

std::string why_no_loopback() {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool works =
      descriptor >= 0 &&
      ::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  const int error = errno;
  if (descriptor >= 0) ::close(descriptor);
  return works ? "" : fmt::format("no sockets on the loopback: {}", std::strerror(error));
}

}  // namespace taskbench::workloads::net
