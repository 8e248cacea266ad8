// The gRPC server and client on sockets: deadlines, peers that give up or are slow, and the end.
#include "workloads/net/grpc_server.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/time/sleep.hpp"
#include "tests/workloads/descriptors.hpp"
#include "workloads/net/grpc_client.hpp"

namespace taskbench::workloads::net {
namespace {

using namespace std::chrono_literals;

GrpcReply text_reply(std::string message) {
  GrpcReply reply;
  reply.message = std::move(message);
  return reply;
}

GrpcRequest call_of(std::string path, std::string message = "") {
  return {.path = std::move(path), .message = std::move(message), .deadline = {}, .metadata = {}};
}

/// What the test's methods have done.
struct Watched {
  struct Frame {
    explicit Frame(std::atomic<int>& count) : ended(count) {}
    ~Frame() { ++ended; }
    std::atomic<int>& ended;
  };

  std::atomic<int> begun{0};
  std::atomic<int> ended{0};
  std::atomic<bool> may_end{false};
};

rt::Task<GrpcReply> echo(GrpcRequest request) { co_return text_reply(std::move(request.message)); }

/// Does not reply until it may end.
rt::Task<GrpcReply> linger(Watched& watched) {
  const Watched::Frame frame(watched.ended);
  ++watched.begun;
  while (!watched.may_end) co_await rt::time::sleep(1ms);
  co_return text_reply("lingered");
}

rt::Task<GrpcReply> fail(std::string why) {
  if (!why.empty()) throw std::runtime_error(why);
  co_return GrpcReply{};
}

GrpcMethods methods_of(Watched& watched) {
  return {{"/t/Echo", echo},
          {"/t/Linger", [&watched](GrpcRequest) { return linger(watched); }},
          {"/t/Fail", [](GrpcRequest request) { return fail(request.message); }}};
}

rt::Task<bool> comes_to(const std::atomic<int>& count, int wanted) {
  for (int i = 0; i < 5'000; ++i) {
    if (count == wanted) co_return true;
    co_await rt::time::sleep(1ms);
  }
  co_return false;
}

class GrpcOn : public testing::TestWithParam<const char*> {
 protected:
  rt::net::SocketAddress address() const {
    return rt::net::SocketAddress::loopback(server_->port());
  }
  void restart(const GrpcServerLimits& limits) {
    server_.reset();
    server_.emplace(runtime_, methods_of(watched_), limits);
  }

  Watched watched_;
  rt::Runtime runtime_ = rt::Runtime::Builder{}
                             .scheduler(GetParam())
                             .workers(GetParam() == std::string_view("current_thread") ? 1 : 2)
                             .build();
  std::optional<GrpcServer> server_{std::in_place, runtime_, methods_of(watched_)};
};

INSTANTIATE_TEST_SUITE_P(schedulers, GrpcOn,
                         testing::Values("work_stealing", "current_thread", "go"));

rt::Task<> call_in_turn(GrpcClient& client, int calls) {
  for (int i = 0; i < calls; ++i) {
    const std::string message(static_cast<std::size_t>(i) * 10'000, 'x');
    const GrpcReply reply = co_await client.call(call_of("/t/Echo", message));
    EXPECT_EQ(reply.status, GrpcStatus::ok) << reply.text;
    EXPECT_TRUE(reply.message == message);
  }
}

rt::Task<> make_many_calls(rt::net::SocketAddress address) {
  GrpcClient client = co_await GrpcClient::connect(address);
  std::vector<rt::JoinHandle<void>> tasks;
  for (int i = 0; i < 30; ++i) tasks.push_back(rt::spawn(call_in_turn(client, 10)));
  for (auto& task : tasks) co_await task;
  GrpcReply reply = co_await client.call(call_of("/t/Nothing"));
  EXPECT_EQ(reply.status, GrpcStatus::unimplemented);
  reply = co_await client.call(call_of("/t/Fail", "at 50 %"));
  EXPECT_EQ(reply.status, GrpcStatus::unknown);
  EXPECT_EQ(reply.text, "the method failed") << "what it threw is none of the caller's business";
  co_await client.close();
  reply = co_await client.call(call_of("/t/Echo"));
  EXPECT_EQ(reply.status, GrpcStatus::unavailable);
}

TEST_P(GrpcOn, many_tasks_call_on_one_connection) {
  runtime_.block_on(make_many_calls(address()));
  EXPECT_EQ(server_->answered(), 302U);
}

/// Calls until one has begun before its deadline passes, which a busy machine may prevent.
rt::Task<> exceed_deadline(GrpcClient& client, GrpcRequest request, bool at_server,
                           const std::atomic<int>& begun) {
  for (const int before = begun; begun == before;) {
    if (at_server) {
      request.metadata = {{"grpc-timeout", "20m"}};  // unknown to the client
    } else {
      request.deadline = GrpcClock::now() + 20ms;
    }
    const GrpcReply reply = co_await client.call(request);
    EXPECT_EQ(reply.status, GrpcStatus::deadline_exceeded);
  }
}

rt::Task<> abort_once_begun(GrpcClient& client, const std::atomic<int>& begun) {
  const int before = begun;
  const auto task = rt::spawn(client.call(call_of("/t/Linger")));
  const bool has_begun = co_await comes_to(begun, before + 1);
  EXPECT_TRUE(has_begun);
  task.abort();
}

rt::Task<> give_up_in_each_way(rt::net::SocketAddress address, Watched& watched) {
  GrpcClient client = co_await GrpcClient::connect(address);
  for (const bool at_server : {false, true}) {
    co_await exceed_deadline(client, call_of("/t/Linger"), at_server, watched.begun);
    const bool given_up = co_await comes_to(watched.ended, watched.begun);
    EXPECT_TRUE(given_up);
  }
  co_await abort_once_begun(client, watched.begun);
  bool given_up = co_await comes_to(watched.ended, watched.begun);
  EXPECT_TRUE(given_up);
  const GrpcReply reply = co_await client.call(call_of("/t/Echo", "still there"));
  EXPECT_EQ(reply.message, "still there");
  {
    GrpcClient other = co_await GrpcClient::connect(address);
    co_await abort_once_begun(other, watched.begun);
  }
  given_up = co_await comes_to(watched.ended, watched.begun);
  EXPECT_TRUE(given_up);
}

TEST_P(GrpcOn, what_is_given_up_is_aborted_at_the_server) {
  runtime_.block_on(give_up_in_each_way(address(), watched_));
}

rt::Task<GrpcReply> linger_at(rt::net::SocketAddress address) {
  GrpcClient client = co_await GrpcClient::connect(address);
  co_return co_await client.call(call_of("/t/Linger"));
}

rt::Task<GrpcReply> result_of(rt::JoinHandle<GrpcReply> task) { co_return co_await task; }

TEST_P(GrpcOn, calls_that_are_under_way_in_the_end_are_replied_to) {
  auto task = runtime_.spawn(linger_at(address()));
  ASSERT_TRUE(runtime_.block_on(comes_to(watched_.begun, 1)));
  std::jthread ends([this] {
    std::this_thread::sleep_for(20ms);
    watched_.may_end = true;
  });
  server_.reset();
  const GrpcReply reply = runtime_.block_on(result_of(std::move(task)));
  EXPECT_EQ(reply.message, "lingered");
}

TEST_P(GrpcOn, calls_that_last_too_long_in_the_end_are_not) {
  restart({.server = {.patience = 40ms}});
  auto task = runtime_.spawn(linger_at(address()));
  ASSERT_TRUE(runtime_.block_on(comes_to(watched_.begun, 1)));
  server_.reset();
  const GrpcReply reply = runtime_.block_on(result_of(std::move(task)));
  EXPECT_EQ(reply.status, GrpcStatus::unavailable);
  EXPECT_TRUE(runtime_.block_on(comes_to(watched_.ended, 1)));
}

/// Sends `bytes`, and then reads until the server ends the connection, or never reads if `is_deaf`.
/// Returns what it has read.
rt::Task<std::string> say(rt::net::SocketAddress address, std::string bytes, bool is_deaf) {
  auto stream = co_await rt::net::TcpStream::connect(address);
  std::string heard;
  try {
    co_await stream.write_all(bytes);
    std::vector<char> in(4'096);
    while (!is_deaf) {
      const std::size_t size = co_await stream.read(in);
      if (size == 0) break;
      heard.append(in.data(), size);
    }
    // Repeats until the server ends the connection.
    while (is_deaf) co_await stream.write_all(bytes.substr(bytes.size() - 17));
  } catch (const std::system_error&) {
    // The connection was cut off.
  }
  co_return heard;
}

/// What a client sends to make calls of this size, without the last bytes.
std::string calls_but_for(std::size_t last_bytes, int calls, std::size_t message_bytes) {
  GrpcClientSession session("host", {});
  for (int i = 0; i < calls; ++i) {
    (void)session.call(call_of("/t/Echo", std::string(message_bytes, 'x')), 1);
  }
  std::string bytes;
  session.send(bytes);
  return bytes.substr(0, bytes.size() - last_bytes);
}

rt::Task<> be_slow_and_be_good(rt::net::SocketAddress address) {
  GrpcClient idle = co_await GrpcClient::connect(address);
  const auto begin = std::chrono::steady_clock::now();
  const std::string heard = co_await say(address, calls_but_for(1, 1, 100), false);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 80ms);
  EXPECT_NE(heard, "") << "the server's settings";
  // The replies do not fit into the window.
  co_await say(address, calls_but_for(0, 2, 60'000), false);
  const GrpcReply reply = co_await idle.call(call_of("/t/Echo", "not cut off"));
  EXPECT_EQ(reply.message, "not cut off");
}

TEST_P(GrpcOn, who_is_slow_is_cut_off_and_the_others_are_not) {
  restart({.server = {.patience = 80ms}});
  runtime_.block_on(be_slow_and_be_good(address()));
  EXPECT_GE(server_->cut_off(), 1U);
}

constexpr std::string_view kGoawayHeader("\0\0\x8\7\0\0\0\0\0", 9);

TEST_P(GrpcOn, who_makes_no_calls_for_long_is_told_to_go) {
  restart({.server = {.idle = 60ms}});
  for (const std::string& bytes : {calls_but_for(0, 1, 10), std::string("PRI")}) {
    const std::string heard = runtime_.block_on(say(address(), bytes, false));
    EXPECT_NE(heard.find(kGoawayHeader), std::string::npos) << testing::PrintToString(heard);
  }
}

rt::Task<> be_one_too_many(rt::net::SocketAddress address) {
  GrpcClient first = co_await GrpcClient::connect(address);
  GrpcReply reply = co_await first.call(call_of("/t/Echo"));
  EXPECT_EQ(reply.status, GrpcStatus::ok);
  GrpcClient second = co_await GrpcClient::connect(address);
  reply = co_await second.call(call_of("/t/Echo"));
  EXPECT_EQ(reply.status, GrpcStatus::unavailable);
  reply = co_await first.call(call_of("/t/Echo"));
  EXPECT_EQ(reply.status, GrpcStatus::ok);
}

TEST_P(GrpcOn, connections_that_are_too_many_are_told_to_go) {
  restart({.server = {.connections = 1}});
  runtime_.block_on(be_one_too_many(address()));
  restart({.server = {.memory_bytes = 100'000}});
  runtime_.block_on(be_one_too_many(address()));
}

rt::Task<> flood_and_be_good(rt::net::SocketAddress address) {
  GrpcClient good = co_await GrpcClient::connect(address);
  std::string ping("\0\0\x8\6\0\0\0\0\0goodbye!", 17);
  std::string flood = calls_but_for(0, 1, 10);
  for (int i = 0; i < 5'000; ++i) flood += ping;
  const std::string long_flood = flood + std::string(1'000'000, 'x');
  const std::string last_words = co_await say(address, long_flood, false);
  EXPECT_TRUE(last_words.ends_with(std::string("\0\0\0\xb", 4)))
      << "it hears that it is to be calm";
  co_await say(address, flood, true);
  co_await say(address, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", false);
  co_await say(address, std::string(100'000, '\xff'), false);
  const GrpcReply reply = co_await good.call(call_of("/t/Echo", "still served"));
  EXPECT_EQ(reply.message, "still served");
}

TEST_P(GrpcOn, who_floods_disturbs_nobody_else) {
  restart({.server = {.patience = 500ms}});
  runtime_.block_on(flood_and_be_good(address()));
}

TEST_P(GrpcOn, no_descriptor_is_left_when_server_and_clients_have_gone) {
  server_.reset();
  const auto before = open_descriptors();
  for (int round = 0; round < 3; ++round) {
    restart({});
    runtime_.block_on(make_many_calls(address()));
    server_.reset();
  }
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace taskbench::workloads::net
