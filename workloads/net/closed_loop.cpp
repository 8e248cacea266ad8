#include "workloads/net/closed_loop.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <utility>

namespace taskbench::workloads::net {

ClosedLoop::ClosedLoop(Exchange exchange, std::uint64_t connections, std::uint64_t busy)
    : exchange_(std::move(exchange)), wanted_(connections), busy_(std::min(busy, connections)) {}

ClosedLoop::~ClosedLoop() {
  for (const Connection& each : connections_) ::close(each.descriptor);
}

void ClosedLoop::open_all(std::uint16_t port) {
  connections_.reserve(wanted_);
  while (connections_.size() < wanted_) {
    const int descriptor = epoll_.connect(port, connections_.size());
    connections_.push_back({descriptor, 0, {}, std::string(exchange_.response.size(), '\0')});
  }
}

void ClosedLoop::exchange_all(std::uint64_t count) {
  std::uint64_t sent = std::min(busy_, count);
  for (std::uint64_t i = 0; i < sent; ++i) send(connections_[i]);
  for (std::uint64_t answered = 0; answered < count;) {
    for (const std::uint64_t ready : epoll_.wait()) {
      Connection& connection = connections_[ready];
      if (!receive(connection)) continue;
      ++answered;
      if (sent < count) {
        ++sent;
        send(connection);
      }
    }
  }
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
  heard(Clock::now() - connection.sent_at);
  answer.replace(exchange_.varies_at, exchange_.varies_bytes, exchange_.response,
                 exchange_.varies_at, exchange_.varies_bytes);
  if (answer != exchange_.response) throw std::runtime_error("an answer was wrong: " + answer);
  return true;
}

}  // namespace taskbench::workloads::net
