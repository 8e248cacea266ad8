#include "workloads/net/clients.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace taskbench::workloads::net {
namespace {

/// Connections from one address. There are 28,232 ports for connections from one to a server,
/// unless net.ipv4.ip_local_port_range was changed.
constexpr std::uint64_t kConnectionsPerAddress = 20'000;

/// Lets connections come from 127.0.0.1, then from 127.0.0.2, and so on. False: see errno.
bool choose_address(int descriptor, std::uint64_t connection) {
  const auto number = static_cast<std::uint32_t>(connection / kConnectionsPerAddress);
  if (number == 0) return true;
  sockaddr_in own{};
  own.sin_family = AF_INET;
  own.sin_addr.s_addr = htonl(INADDR_LOOPBACK + number);
  const int on = 1;  // the port is chosen when the server's address is known
  return ::setsockopt(descriptor, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on)) == 0 &&
         ::bind(descriptor, reinterpret_cast<const sockaddr*>(&own), sizeof(own)) == 0;
}

}  // namespace

Clients::Clients() : thread_([this] { run(); }) {}

Clients::~Clients() {
  if (thread_.joinable()) end_with(nullptr);
}

void Clients::end_with(std::function<void()> last) {
  last_ = std::move(last);
  has_work_.release();
  thread_.join();
}

void Clients::connect(std::uint16_t port, SignalSender done) {
  start([this, port] { open_all(port); }, std::move(done));
}

void Clients::exchange(std::uint64_t count, SignalSender done) {
  const auto timed_exchange = [this, count] {
    const Clock::time_point begin = Clock::now();
    exchange_all(count);
    answers_ += count;
    timed_answers_ += count;
    timed_ += Clock::now() - begin;
  };
  start(timed_exchange, std::move(done));
}

void Clients::start(std::function<void()> work, SignalSender done) {
  work_ = std::move(work);
  done_.emplace(std::move(done));
  has_work_.release();
}

void Clients::run() {
  for (;;) {
    has_work_.acquire();
    const auto work = std::exchange(work_, nullptr);
    if (!work) {
      if (last_) last_();
      return;
    }
    try {
      if (!failure_) work();
    } catch (const std::exception& error) {
      failure_ = error.what();
    }
    SignalSender done = std::move(*done_);  // after sending, nothing here may be touched
    (void)done.send(Signal{});
  }
}

std::optional<std::string> Clients::take_failure() { return std::exchange(failure_, {}); }

void Clients::take_figures(std::string_view rate, Figures& figures) {
  const auto answers = static_cast<double>(std::exchange(timed_answers_, 0));
  const std::chrono::duration<double> timed = std::exchange(timed_, {});
  if (timed.count() > 0) figures[std::string(rate)] = answers / timed.count();
  latencies_.take("latency", figures);
}

void Epoll::open() {
  if (epoll_ < 0) epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) throw_errno("epoll_create1");
}

void Epoll::close() {
  if (epoll_ >= 0) ::close(std::exchange(epoll_, -1));
}

int Epoll::connect(std::uint16_t port, std::uint64_t name) {
  open();
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) throw_errno("socket");
  sockaddr_in server{};
  server.sin_family = AF_INET;
  server.sin_port = htons(port);
  server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = name;
  const int on = 1;
  const char* failed = nullptr;
  if (!choose_address(descriptor, name)) {
    failed = "bind to an address of the loopback";
  } else if (::connect(descriptor, reinterpret_cast<const sockaddr*>(&server), sizeof(server)) !=
             0) {
    failed = "connect to the server";
  } else if (::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0) {
    failed = "setsockopt";
  } else if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) != 0) {
    failed = "epoll_ctl";
  }
  if (failed == nullptr) return descriptor;
  const int error = std::exchange(errno, 0);
  ::close(descriptor);
  errno = error;
  throw_errno(failed);
}

const std::vector<std::uint64_t>& Epoll::wait() {
  if (poll(kPatience_s * 1'000) == 0) {
    throw std::runtime_error(fmt::format("no answer for {} s", kPatience_s));
  }
  return ready_;
}

const std::vector<std::uint64_t>& Epoll::ready_now() {
  poll(0);
  return ready_;
}

int Epoll::poll(int patience_ms) {
  std::array<epoll_event, 128> events;
  ready_.clear();
  const int count =
      ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), patience_ms);
  if (count < 0 && errno != EINTR) throw_errno("epoll_wait");
  for (int i = 0; i < count; ++i) {
    const std::uint64_t which = events[static_cast<std::size_t>(i)].data.u64;  // a packed member
    ready_.push_back(which);
  }
  return count;
}

void unshare_descriptors() {
  constexpr unsigned kFirst = 3;     // after stdin, stdout and stderr
  constexpr unsigned kUnshare = 2U;  // CLOSE_RANGE_UNSHARE, of Linux 5.9
  if (::syscall(SYS_close_range, kFirst, ~0U, kUnshare) != 0) {
    throw_errno("descriptors for the clients alone");
  }
}

void throw_errno(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace taskbench::workloads::net
