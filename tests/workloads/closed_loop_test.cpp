// The clients of echo, accept_storm and http_hello notice an answer that nobody asked for.
#include "workloads/net/closed_loop.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "workloads/net/loopback.hpp"
#include "workloads/net/under_load.hpp"

namespace taskbench::workloads::net {
namespace {

/// Sends back what comes in, and the first of it twice.
rt::Task<> answer_the_first_twice(rt::net::TcpStream stream) {
  std::array<char, 64> message;
  for (bool again = true;; again = false) {
    const std::size_t size = co_await stream.read(message.data(), message.size());
    if (size == 0) co_return;
    co_await stream.write_all(message.data(), size);
    if (again) co_await stream.write_all(message.data(), size);
  }
}

// All answers are alike: the second may be taken for that to the next request.
TEST(ClosedLoop, an_answer_that_comes_twice_is_a_failure) {
  rt::Runtime runtime = rt::Runtime::Builder{}.scheduler("current_thread").build();
  const LoopbackServer server(runtime, answer_the_first_twice);
  const std::string message = "Is anybody there?";
  ClosedLoop clients({.request = message, .response = message}, 1, 1);
  hear(runtime, [&](SignalSender done) { clients.connect(server.port(), std::move(done)); });
  std::optional<std::string> failure;
  for (int i = 0; i < 100 && !failure; ++i) {
    hear(runtime, [&](SignalSender done) { clients.exchange(1, std::move(done)); });
    failure = clients.take_failure();
  }
  EXPECT_EQ(failure, "the server sent more than was asked for");
}

/// The address from which a connection of that number comes.
std::string address_of(std::uint16_t port, std::uint64_t number) {
  Epoll epoll;
  const int descriptor = epoll.connect(port, number);
  sockaddr_in own{};
  socklen_t size = sizeof(own);
  EXPECT_EQ(::getsockname(descriptor, reinterpret_cast<sockaddr*>(&own), &size), 0);
  ::close(descriptor);
  return ::inet_ntoa(own.sin_addr);
}

// Tens of thousands of connections to one port need more than one address.
TEST(ClosedLoop, no_address_has_more_connections_than_there_are_ports) {
  rt::Runtime runtime = rt::Runtime::Builder{}.scheduler("current_thread").build();
  const LoopbackServer server(runtime, answer_the_first_twice);
  EXPECT_EQ(address_of(server.port(), 0), "127.0.0.1");
  EXPECT_EQ(address_of(server.port(), 19'999), "127.0.0.1");
  EXPECT_EQ(address_of(server.port(), 20'000), "127.0.0.2");
  EXPECT_EQ(address_of(server.port(), 99'999), "127.0.0.5");
}

}  // namespace
}  // namespace taskbench::workloads::net
