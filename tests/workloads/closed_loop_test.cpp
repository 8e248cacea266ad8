// The clients of echo, accept_storm and http_hello notice an answer that nobody asked for.
#include "workloads/net/closed_loop.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace taskbench::workloads::net
