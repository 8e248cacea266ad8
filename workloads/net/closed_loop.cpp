#include "workloads/net/closed_loop.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "workloads/net/loopback.hpp"

namespace taskbench::workloads::net {
namespace {

/// Much longer than any answer takes, also of an unoptimised build on a busy machine.
constexpr int kPatience_s = 30;

[[noreturn]] void throw_errno(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

ClosedLoop::ClosedLoop(Exchange exchange, std::uint64_t connections, std::uint64_t busy)
    : exchange_(std::move(exchange)),
      wanted_(connections),
      busy_(std::min(busy, connections)),
      thread_([this] { run(); }) {}

ClosedLoop::~ClosedLoop() {
  has_work_.release();
  thread_.join();
  for (const Connection& each : connections_) ::close(each.descriptor);
  if (epoll_ >= 0) ::close(epoll_);
}

void ClosedLoop::connect(std::uint16_t port, SignalSender done) {
  start([this, port] { open_all(port); }, std::move(done));
}

void ClosedLoop::exchange(std::uint64_t count, SignalSender done) {
  start([this, count] { exchange_all(count); }, std::move(done));
}

void ClosedLoop::start(std::function<void()> work, SignalSender done) {
  work_ = std::move(work);
  done_.emplace(std::move(done));
  has_work_.release();
}

void ClosedLoop::run() {
  for (;;) {
    has_work_.acquire();
    const auto work = std::exchange(work_, nullptr);
    if (!work) return;
    try {
      if (!failure_) work();
    } catch (const std::exception& error) {
      failure_ = error.what();
    }
    SignalSender done = std::move(*done_);  // nothing here is touched once it has been sent
    (void)done.send(Signal{});
  }
}

void ClosedLoop::open_all(std::uint16_t port) {
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) throw_errno("epoll_create1");
  sockaddr_in server{};
  server.sin_family = AF_INET;
  server.sin_port = htons(port);
  server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  connections_.reserve(wanted_);
  while (connections_.size() < wanted_) {
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) throw_errno("socket");
    connections_.push_back({descriptor, 0, {}, std::string(exchange_.response.size(), '\0')});
    if (::connect(descriptor, reinterpret_cast<const sockaddr*>(&server), sizeof(server)) != 0) {
      throw_errno("connect to the server");
    }
    const int on = 1;
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = connections_.size() - 1;
    if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) != 0) throw_errno("epoll_ctl");
  }
}

void ClosedLoop::exchange_all(std::uint64_t count) {
  const Clock::time_point begin = Clock::now();
  std::uint64_t sent = std::min(busy_, count);
  for (std::uint64_t i = 0; i < sent; ++i) send(connections_[i]);
  for (std::uint64_t answered = 0; answered < count;) {
    std::array<epoll_event, 128> events;
    const int ready =
        ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), kPatience_s * 1'000);
    if (ready == 0) throw std::runtime_error(fmt::format("no answer for {} s", kPatience_s));
    if (ready < 0 && errno != EINTR) throw_errno("epoll_wait");
    for (int i = 0; i < ready; ++i) {
      Connection& connection = connections_[events[static_cast<std::size_t>(i)].data.u64];
      if (!receive(connection)) continue;
      ++answered;
      if (sent < count) {
        ++sent;
        send(connection);
      }
    }
  }
  answers_ += count;
  timed_answers_ += count;
  timed_ += Clock::now() - begin;
}

void ClosedLoop::send(Connection& connection) {
  connection.received = 0;
  connection.sent_at = Clock::now();
  // It fits into the socket's buffer, in which there is nothing yet, so that this does not block.
  const std::string& request = exchange_.request;
  const auto sent = ::send(connection.descriptor, request.data(), request.size(), MSG_NOSIGNAL);
  if (sent != static_cast<ssize_t>(request.size())) throw_errno("send a request");
}

bool ClosedLoop::receive(Connection& connection) {
  std::string& answer = connection.answer;
  char surplus;
  const bool none_expected = connection.received == answer.size();
  char* const into = none_expected ? &surplus : answer.data() + connection.received;
  const std::size_t room = none_expected ? 1 : answer.size() - connection.received;
  const ssize_t size = ::recv(connection.descriptor, into, room, MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (size < 0) throw_errno("receive an answer");
  if (size == 0) throw std::runtime_error("the server closed a connection");
  if (none_expected) throw std::runtime_error("the server sent more than was asked for");
  connection.received += static_cast<std::size_t>(size);
  if (connection.received < answer.size()) return false;
  latencies_.add(Clock::now() - connection.sent_at);
  answer.replace(exchange_.varies_at, exchange_.varies_bytes, exchange_.response,
                 exchange_.varies_at, exchange_.varies_bytes);
  if (answer != exchange_.response) throw std::runtime_error("an answer was wrong: " + answer);
  return true;
}

std::optional<std::string> ClosedLoop::take_failure() { return std::exchange(failure_, {}); }

void ClosedLoop::take_figures(std::string_view rate, Figures& figures) {
  const auto answers = static_cast<double>(std::exchange(timed_answers_, 0));
  const std::chrono::duration<double> timed = std::exchange(timed_, {});
  if (timed.count() > 0) figures[std::string(rate)] = answers / timed.count();
  latencies_.take("latency", figures);
}

}  // namespace taskbench::workloads::net
