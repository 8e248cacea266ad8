// The HTTP server on sockets: slow and rude clients, and what is left behind.
#include "workloads/net/http_server.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <string_view>
#include <thread>

#include "tests/workloads/descriptors.hpp"
#include "tests/workloads/http_clients.hpp"

namespace taskbench::workloads::net {
namespace {

class EveryScheduler : public testing::TestWithParam<const char*> {
 protected:
  rt::Runtime runtime_ = rt::Runtime::Builder{}.scheduler(GetParam()).workers(2).build();
};

// On other schedulers, nobody would run the tasks while the test talks to the server.
INSTANTIATE_TEST_SUITE_P(pools, EveryScheduler,
                         testing::Values("work_stealing", "global_queue", "go"));

TEST_P(EveryScheduler, a_client_that_drips_its_header_is_cut_off_and_the_others_are_not) {
  HttpServer server(runtime_, {.server = {.patience = std::chrono::milliseconds(80)}});
  const Client idle(server.port());
  const Client slow(server.port());
  const auto begin = std::chrono::steady_clock::now();
  std::size_t sent = 0;
  while (server.cut_off() == 0 && sent < 4'000) {
    slow.send(sent < 5 ? std::string_view("GET /").substr(sent, 1) : "x");
    ++sent;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(80));
  EXPECT_EQ(slow.receive_all(), "");
  EXPECT_EQ(server.cut_off(), 1U);
  idle.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(idle.receive_all().ends_with("Hello, world!"));
}

TEST_P(EveryScheduler, a_client_that_takes_no_answers_is_cut_off) {
  HttpServer server(runtime_, {.server = {.patience = std::chrono::milliseconds(40)}});
  const Client rude(server.port());
  std::string requests;
  for (int i = 0; i < 1'000; ++i) requests += kGreetMe;
  while (rude.send(requests)) {
  }
  EXPECT_EQ(server.cut_off(), 1U);
}

TEST_P(EveryScheduler, a_client_without_requests_is_cut_off_whatever_it_drips) {
  HttpServer server(runtime_, {.server = {.idle = std::chrono::milliseconds(60)}});
  const Client silent(server.port());
  const Client drips(server.port());
  const Client greeted(server.port());
  greeted.send(kGreetMe);
  for (int i = 0; i < 4'000 && drips.send("\r\n"); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(silent.receive_all(), "");
  EXPECT_TRUE(greeted.receive_all().ends_with("Hello, world!"));
  EXPECT_EQ(server.cut_off(), 3U);
}

bool is_greeted_soon(std::uint16_t port) {
  for (int i = 0; i < 4'000; ++i) {
    const Client client(port);
    client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    if (client.receive_all().ends_with("Hello, world!")) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

TEST_P(EveryScheduler, clients_that_are_too_many_are_told_so) {
  for (const HttpServerLimits& limits : {HttpServerLimits{.server = {.connections = 2}},
                                         HttpServerLimits{.server = {.memory_bytes = 20'000}}}) {
    HttpServer server(runtime_, limits);
    const auto be_greeted = [](const Client& client) {
      client.send(kGreetMe);
      EXPECT_TRUE(client.receive_until("Hello, world!").ends_with("Hello, world!"));
    };
    const Client first(server.port());
    be_greeted(first);
    {
      // The answer shows that the client has its share, which connections take when they are
      // accepted.
      const Client second(server.port());
      be_greeted(second);
      const Client third(server.port());
      EXPECT_TRUE(third.receive_all().starts_with("HTTP/1.1 503 "));
      be_greeted(first);
    }
    EXPECT_TRUE(is_greeted_soon(server.port())) << "once one has gone";
  }
}

TEST_P(EveryScheduler, a_request_for_which_there_is_no_memory_is_told_so) {
  HttpServer server(runtime_, {.server = {.memory_bytes = 10'000}});
  const Client client(server.port());
  client.send("GET / HTTP/1.1\r\nX: " + std::string(3'000, 'x'));
  EXPECT_TRUE(client.receive_all().starts_with("HTTP/1.1 503 "));
}

TEST_P(EveryScheduler, who_is_refused_hears_why_though_it_sends_on) {
  HttpServer server(runtime_);
  const Client client(server.port());
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\n\r\n");
  client.send(std::string(100'000, 'x'));
  EXPECT_TRUE(client.receive_all().starts_with("HTTP/1.1 413 "));
}

#if !defined(TASKBENCH_ASAN)  // UBSan opens descriptors, too
TEST(HttpServer, goes_on_accepting_after_a_long_lack_of_descriptors) {
  rt::Runtime runtime = rt::Runtime::Builder{}.workers(2).build();
  const HttpServer server(runtime);
  const int next = ::dup(STDERR_FILENO);
  ASSERT_GE(next, 0);
  ::close(next);
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit one_more{static_cast<rlim_t>(next) + 1, before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &one_more);
  const Client client(server.port());
  // accept() reports the lack after 959 ms.
  std::this_thread::sleep_for(std::chrono::milliseconds(1'100));
  ::setrlimit(RLIMIT_NOFILE, &before);
  client.send(kGreetMe);
  EXPECT_TRUE(client.receive_until("Hello, world!").ends_with("Hello, world!"));
}
#endif

TEST_P(EveryScheduler, no_descriptor_is_left_when_the_server_goes) {
  { const HttpServer first(runtime_); }  // opens what the runtime keeps open
  const auto before = open_descriptors();
  for (int round = 0; round < 5; ++round) {
    HttpServer server(runtime_);
    const Client idle(server.port());
    const Client halfway(server.port());
    halfway.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc");
    const Client gone(server.port());
    gone.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    EXPECT_NE(gone.receive_all(), "");
  }
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace taskbench::workloads::net
