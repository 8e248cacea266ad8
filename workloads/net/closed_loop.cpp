#include "workloads/net/closed_loop.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <utility>

namespace taskbench::workloads::net {

ClosedLoop::ClosedLoop(Exchange exchange, std::uint64_t connections, std::uint64_t busy, Use use)
    : exchange_(std::move(exchange)), busy_(std::min(busy, connections)), use_(use) {
  // Allocates all memory of the clients now, so that any later growth of the process is the
  // server's.
  connections_.resize(connections);
  for (Connection& each : connections_) {
    // A byte more than is expected, so that the beginning of a second answer is noticed.
    each.answer.resize(exchange_.response.size() + 1);
    each.received = exchange_.response.size();  // so what comes before a request is too much
  }
}

ClosedLoop::~ClosedLoop() {
  end_with([this] {
    for (Connection& each : connections_) close(each);
    epoll_.close();
  });
}

void ClosedLoop::open_all(std::uint16_t port) {
  if (owns_descriptors_) unshare_descriptors();
  port_ = port;
  epoll_.open();
  if (use_ == Use::once) return;
  for (std::uint64_t i = 0; i < connections_.size(); ++i) open(i);
}

void ClosedLoop::open(std::uint64_t index) {
  connections_[index].descriptor = epoll_.connect(port_, index);
}

void ClosedLoop::close(Connection& connection) {
  if (connection.descriptor >= 0) ::close(std::exchange(connection.descriptor, -1));
}

void ClosedLoop::exchange_all(std::uint64_t count) {
  // Nothing is asked: what is here is left over, and fails.
  for (const std::uint64_t ready : epoll_.ready_now()) (void)receive(connections_[ready]);
  std::uint64_t sent = std::min(busy_, count);
  for (std::uint64_t i = 0; i < sent; ++i) send(i);
  for (std::uint64_t answered = 0; answered < count;) {
    for (const std::uint64_t ready : epoll_.wait()) {
      Connection& connection = connections_[ready];
      if (!receive(connection)) continue;
      ++answered;
      if (sent < count) {
        ++sent;
        send(ready);
      }
    }
  }
}

void ClosedLoop::send(std::uint64_t index) {
  Connection& connection = connections_[index];
  connection.received = 0;
  connection.sent_at = Clock::now();
  if (use_ == Use::once) open(index);
  // Does not block: the request fits into the socket's buffer, which is still empty.
  const std::string& request = exchange_.request;
  const auto sent = ::send(connection.descriptor, request.data(), request.size(), MSG_NOSIGNAL);
  if (sent != static_cast<ssize_t>(request.size())) throw_errno("send a request");
}

bool ClosedLoop::receive(Connection& connection) {
  std::string& answer = connection.answer;
  const std::size_t expected = exchange_.response.size();
  const ssize_t size = ::recv(connection.descriptor, answer.data() + connection.received,
                              answer.size() - connection.received, MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (size < 0) throw_errno("receive an answer");
  if (size == 0) throw std::runtime_error("the server closed a connection");
  connection.received += static_cast<std::size_t>(size);
  if (connection.received > expected) {
    throw std::runtime_error("the server sent more than was asked for");
  }
  if (connection.received < expected) return false;
  heard(Clock::now() - connection.sent_at);
  if (use_ == Use::once) {
    // Closes with a reset: if millions of connections were closed normally, their ports would stay
    // occupied for a minute each (TIME_WAIT).
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(connection.descriptor, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    close(connection);
  }
  answer.replace(exchange_.varies_at, exchange_.varies_bytes, exchange_.response,
                 exchange_.varies_at, exchange_.varies_bytes);
  if (answer.compare(0, expected, exchange_.response) != 0) {
    throw std::runtime_error("an answer was wrong: " + answer.substr(0, expected));
  }
  return true;
}

}  // namespace taskbench::workloads::net
