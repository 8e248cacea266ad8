#include "workloads/net/grpc_clients.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <utility>

#include "workloads/net/grpc_session.hpp"

namespace taskbench::workloads::net {

struct GrpcClients::Connection {
  Connection(int of, const std::string& authority, std::uint64_t streams)
      : descriptor(of), session(authority, {}), called_at(streams) {}
  ~Connection() { ::close(descriptor); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  const int descriptor;
  GrpcClientSession session;
  std::vector<Clock::time_point> called_at;  // of each call in progress
  std::string out;
};

GrpcClients::GrpcClients(GrpcExchange exchange, std::uint64_t connections, std::uint64_t streams)
    : exchange_(std::move(exchange)), wanted_(connections), streams_(streams) {}

GrpcClients::~GrpcClients() = default;

void GrpcClients::open_all(std::uint16_t port) {
  const std::string authority = fmt::format("127.0.0.1:{}", port);
  while (connections_.size() < wanted_) {
    const int descriptor = epoll_.connect(port, connections_.size());
    connections_.push_back(std::make_unique<Connection>(descriptor, authority, streams_));
  }
}

void GrpcClients::exchange_all(std::uint64_t count) {
  std::uint64_t called = 0;
  for (std::uint64_t slot = 0; slot < streams_; ++slot) {
    for (const auto& connection : connections_) {
      if (called == count) break;
      ++called;
      call(*connection, slot);
    }
  }
  for (const auto& connection : connections_) send(*connection);
  for (std::uint64_t answered = 0; answered < count;) {
    for (const std::uint64_t ready : epoll_.wait()) {
      Connection& connection = *connections_[ready];
      receive(connection);
      const auto now = Clock::now();
      for (const auto& [slot, reply] : connection.session.take_replies()) {
        if (reply.status != GrpcStatus::ok || reply.message != exchange_.reply) {
          throw std::runtime_error(
              fmt::format("a reply was wrong: status {}, {}", static_cast<int>(reply.status),
                          reply.status == GrpcStatus::ok ? reply.message : reply.text));
        }
        heard(now - connection.called_at[slot]);
        ++answered;
        if (called == count) continue;
        ++called;
        call(connection, slot);
      }
      send(connection);
    }
  }
}

void GrpcClients::call(Connection& connection, std::uint64_t slot) {
  connection.called_at[slot] = Clock::now();
  if (!connection.session.call(exchange_.request, slot)) {
    throw std::runtime_error("a connection has no numbers left for calls");
  }
}

void GrpcClients::send(Connection& connection) {
  std::string& out = connection.out;
  for (;;) {
    out.clear();
    connection.session.send(out);
    if (out.empty()) return;
    // The server reads while it writes, so waiting for room does not take long.
    for (std::size_t sent = 0; sent < out.size();) {
      const auto some =
          ::send(connection.descriptor, out.data() + sent, out.size() - sent, MSG_NOSIGNAL);
      if (some < 0 && errno != EINTR) throw_errno("send calls");
      if (some > 0) sent += static_cast<std::size_t>(some);
    }
  }
}

void GrpcClients::receive(Connection& connection) {
  std::array<char, 16'384> in;
  const auto size = ::recv(connection.descriptor, in.data(), in.size(), MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size < 0) throw_errno("receive a reply");
  if (size == 0) throw std::runtime_error("the server closed a connection");
  connection.session.receive({in.data(), static_cast<std::size_t>(size)});
  if (connection.session.is_over()) throw std::runtime_error("the server ended a connection");
}

}  // namespace taskbench::workloads::net
