// The two ends of a gRPC connection, joined in memory: calls, refusals, floods, and arbitrary
// input.
#include "workloads/net/grpc_session.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/workloads/http2_frames.hpp"

namespace taskbench::workloads::net {
namespace {

using namespace std::string_literals;

constexpr GrpcLimits kTightLimits{
    .http2 = {.streams = 10, .header_bytes = 1'000, .fruitless_burst = 100, .fruitless_per_s = 50},
    .message_bytes = 1'000,
    .held_bytes = 2'500};

GrpcRequest request_to(std::string path, std::string message = "") {
  return {.path = std::move(path), .message = std::move(message), .deadline = {}, .metadata = {}};
}

GrpcReply reply_with(std::string message) {
  GrpcReply reply;
  reply.message = std::move(message);
  return reply;
}

/// Passes bytes between the two ends until both are silent.
template <class Client>
void talk(Client& client, GrpcServerSession& server) {
  for (;;) {
    std::string forth, back;
    client.send(forth);
    server.receive(forth);
    server.send(back);
    client.receive(back);
    if (forth.empty() && back.empty()) return;
  }
}

struct Connection {
  explicit Connection(const GrpcLimits& limits = {}) : server(limits), client("host:1", {}) {}

  void call(const GrpcRequest& request, GrpcClientSession::Tag tag) {
    ids.push_back(*client.call(request, tag));
  }
  /// Answers each call with its own message, twice.
  void talk_and_echo() {
    for (;;) {
      talk(client, server);
      const auto calls = server.take_calls();
      if (calls.empty()) return;
      for (const auto& [stream, request] : calls) {
        server.answer(stream, reply_with(request.message + request.message));
      }
    }
  }

  GrpcServerSession server;
  GrpcClientSession client;
  std::vector<StreamId> ids;
};

/// A client that sends what it is told to, and keeps the headers and trailers of replies.
class RawClient final : public Http2Session {
 public:
  using Headers = std::map<std::string, std::string, std::less<>>;

  RawClient() : Http2Session(Role::client, {}) {}

  StreamId request(const Headers& headers, std::string body) {
    std::vector<Header> all;
    for (const auto& [name, value] : headers) all.push_back({name, value});
    auto stream = make_stream();
    stream->body = std::move(body);
    return submit_request(std::move(stream), all)->id;
  }

  std::map<StreamId, Headers> heard;
  std::map<StreamId, std::uint32_t> closed;

 private:
  std::unique_ptr<Stream> make_stream() override { return std::make_unique<Stream>(); }
  void on_header(Stream& stream, const Header& header) override {
    heard[stream.id].emplace(header.name, header.value);
  }
  void on_headers_end(Stream&) override {}
  void on_data(Stream&, std::string_view) override {}
  void on_end(Stream&) override {}
  bool on_body_sent(Stream&) override { return false; }
  void on_close(Stream& stream, std::uint32_t error) override { closed[stream.id] = error; }
};

const RawClient::Headers kGoodHeaders(std::begin(kGoodCall), std::end(kGoodCall));

TEST(GrpcSession, a_call_has_headers_a_message_a_status_and_trailers) {
  Connection both;
  GrpcRequest request = request_to("/a/b", "hello");
  request.metadata = {{"x-from", "here"}, {"x-more-bin", "AAE="}};
  both.call(request, 7);
  talk(both.client, both.server);
  const auto calls = both.server.take_calls();
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0].request.path, "/a/b");
  EXPECT_EQ(calls[0].request.message, "hello");
  EXPECT_EQ(calls[0].request.metadata, request.metadata);
  EXPECT_EQ(calls[0].request.deadline, std::nullopt);
  GrpcReply reply = reply_with("world");
  reply.headers = {{"x-header", "1"}};
  reply.trailers = {{"x-trailer", "2"}};
  both.server.answer(calls[0].stream, reply);
  talk(both.client, both.server);
  const auto replies = both.client.take_replies();
  ASSERT_EQ(replies.size(), 1U);
  EXPECT_EQ(replies[0].tag, 7U);
  EXPECT_EQ(replies[0].reply.status, GrpcStatus::ok);
  EXPECT_EQ(replies[0].reply.message, "world");
  EXPECT_EQ(replies[0].reply.headers, reply.headers);
  EXPECT_EQ(replies[0].reply.trailers, reply.trailers);
  EXPECT_EQ(both.server.stream_count() + both.client.stream_count(), 0U);
  EXPECT_EQ(both.server.take_given_up(), std::vector<StreamId>{});
}

TEST(GrpcSession, a_status_has_a_text_and_a_deadline_its_time) {
  Connection both;
  GrpcRequest request = request_to("/a/b");
  request.deadline = GrpcClock::now() + std::chrono::hours(1);
  both.call(request, 1);
  talk(both.client, both.server);
  const auto calls = both.server.take_calls();
  ASSERT_EQ(calls.size(), 1U);
  ASSERT_TRUE(calls[0].request.deadline.has_value());
  EXPECT_LT(*calls[0].request.deadline - *request.deadline, std::chrono::seconds(10));
  EXPECT_GE(*calls[0].request.deadline, *request.deadline);
  GrpcReply reply;
  reply.status = GrpcStatus::invalid_argument;
  reply.text = "50 % \xc3\xa4\n";
  reply.trailers = {{"x-trailer", "2"}};
  both.server.answer(calls[0].stream, reply);
  talk(both.client, both.server);
  const auto replies = both.client.take_replies();
  ASSERT_EQ(replies.size(), 1U);
  EXPECT_EQ(replies[0].reply.status, reply.status);
  EXPECT_EQ(replies[0].reply.text, reply.text);
  EXPECT_EQ(replies[0].reply.headers, GrpcMetadata());
  EXPECT_EQ(replies[0].reply.trailers, reply.trailers);
}

TEST(GrpcSession, messages_may_be_larger_than_the_windows) {
  Connection both;
  const std::string large(1'000'000, 'x');
  for (int i = 0; i < 3; ++i) both.call(request_to("/a/b", large), 1);
  both.talk_and_echo();
  const auto replies = both.client.take_replies();
  ASSERT_EQ(replies.size(), 3U);
  for (const auto& [tag, reply] : replies) EXPECT_TRUE(reply.message == large + large);
}

TEST(GrpcSession, more_calls_than_streams_wait_for_their_turn) {
  Connection both(kTightLimits);
  for (GrpcClientSession::Tag tag = 0; tag < 50; ++tag) both.call(request_to("/a/b", "x"), tag);
  talk(both.client, both.server);
  EXPECT_EQ(both.server.stream_count(), kTightLimits.http2.streams);
  for (const auto& [stream, request] : both.server.take_calls()) {
    both.server.answer(stream, reply_with("xx"));
  }
  both.talk_and_echo();
  EXPECT_EQ(both.client.take_replies().size(), 50U);
}

TEST(GrpcSession, a_call_that_is_cancelled_is_given_up) {
  Connection both;
  both.call(request_to("/a/b"), 1);
  both.call(request_to("/a/b"), 2);
  talk(both.client, both.server);
  const auto calls = both.server.take_calls();
  ASSERT_EQ(calls.size(), 2U);
  both.client.cancel(both.ids[0]);
  both.client.cancel(both.ids[0]);
  talk(both.client, both.server);
  EXPECT_EQ(both.server.take_given_up(), std::vector{calls[0].stream});
  for (const auto& [stream, request] : calls) both.server.answer(stream, reply_with("late"));
  talk(both.client, both.server);
  const auto replies = both.client.take_replies();
  ASSERT_EQ(replies.size(), 1U);
  EXPECT_EQ(replies[0].tag, 2U);
}

TEST(GrpcSession, nobody_hears_of_a_call_that_is_cancelled_at_once) {
  Connection both;
  for (GrpcClientSession::Tag tag = 0; tag < 3; ++tag) both.call(request_to("/a/b"), tag);
  std::string forth;
  both.client.send(forth);
  both.client.cancel(both.ids[1]);
  both.client.send(forth);
  both.server.receive(forth);
  const auto calls = both.server.take_calls();
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].stream, both.ids[0]);
  EXPECT_EQ(calls[1].stream, both.ids[2]);
  EXPECT_EQ(both.server.take_given_up(), std::vector<StreamId>{});
}

TEST(GrpcSession, a_shutdown_lets_calls_end_and_takes_no_more) {
  Connection both;
  both.call(request_to("/a/b"), 1);
  talk(both.client, both.server);
  const auto calls = both.server.take_calls();
  both.server.begin_shutdown();
  talk(both.client, both.server);
  EXPECT_FALSE(both.server.is_over());
  both.call(request_to("/a/b"), 2);
  talk(both.client, both.server);
  auto replies = both.client.take_replies();
  ASSERT_EQ(replies.size(), 1U);
  EXPECT_EQ(replies[0].tag, 2U);
  EXPECT_EQ(replies[0].reply.status, GrpcStatus::unavailable);
  both.server.answer(calls[0].stream, reply_with("done"));
  talk(both.client, both.server);
  replies = both.client.take_replies();
  ASSERT_EQ(replies.size(), 1U);
  EXPECT_EQ(replies[0].reply.message, "done");
  EXPECT_TRUE(both.server.is_over());
  EXPECT_TRUE(both.client.is_over());
}

TEST(GrpcSession, the_oldest_that_waits_for_the_peer_is_known) {
  GrpcServerSession server({});
  RawClient client;
  const StreamId first = client.request(kGoodHeaders, "\0\0\0\0"s);
  talk(client, server);
  EXPECT_EQ(server.oldest_awaited(), 0) << "it was refused, and has heard of it";
  EXPECT_EQ(client.heard[first].at("grpc-status"), "13");

  Connection both;
  both.call(request_to("/a/b", "hello"), 1);
  std::string forth;
  both.client.send(forth);
  both.server.receive(forth.substr(0, forth.size() - 1));
  EXPECT_NE(both.server.oldest_awaited(), 0) << "the rest of its message";
  both.server.receive(forth.substr(forth.size() - 1));
  talk(both.client, both.server);
  EXPECT_EQ(both.server.oldest_awaited(), 0) << "now it is the server's turn";
  const auto calls = both.server.take_calls();
  ASSERT_EQ(calls.size(), 1U);
  both.server.answer(calls[0].stream, reply_with(std::string(100'000, 'x')));
  std::string back;
  both.server.send(back, 1'000'000);
  EXPECT_NE(both.server.oldest_awaited(), 0) << "its window is full";
}

TEST(GrpcSession, what_is_wrong_is_refused_with_its_status_and_the_connection_goes_on) {
  const std::string good = grpc_framed("hello");
  const struct {
    RawClient::Headers headers;
    std::string body;
    std::string status;
  } cases[] = {
      {{}, good, "called"},
      {{{"content-type", "application/grpc+proto"}}, good, "called"},
      {{{"content-type", "application/grpc;x"}}, good, "called"},
      {{{"content-type", "application/grpcx"}}, good, "http 415"},
      {{{"content-type", "text/html"}}, good, "http 415"},
      {{{":method", "GET"}}, good, "http 405"},
      {{{"grpc-timeout", "soon"}}, good, "13"},
      {{{"x-large", std::string(1'000, 'x')}}, good, "8"},
      {{{"x-large", std::string(50'000, 'x')}}, good, "8"},
      {{}, "", "12"},
      {{}, good + good, "12"},
      {{}, good.substr(0, 7), "13"},
      {{}, "\1" + good.substr(1), "12"},
      {{}, grpc_framed(std::string(1'001, 'x')), "8"},
      {{}, "\0\xff\xff\xff\xff"s + std::string(100'000, 'x'), "8"},
  };
  GrpcServerSession server(kTightLimits);
  RawClient client;
  for (const auto& [changes, body, status] : cases) {
    RawClient::Headers headers = kGoodHeaders;
    for (const auto& [name, value] : changes) headers[name] = value;
    const StreamId id = client.request(headers, body);
    talk(client, server);
    for (const auto& [stream, request] : server.take_calls()) {
      EXPECT_EQ(request.message, "hello");
      EXPECT_EQ(status, "called");
      server.answer(stream, reply_with(""));
    }
    talk(client, server);
    const RawClient::Headers& heard = client.heard[id];
    if (status == "called") {
      EXPECT_EQ(heard.at("grpc-status"), "0");
    } else if (status.starts_with("http ")) {
      EXPECT_EQ(heard.at(":status"), status.substr(5));
    } else {
      EXPECT_EQ(heard.at(":status"), "200");
      EXPECT_EQ(heard.at("grpc-status"), status);
    }
    const auto allowed = heard.find("allow");
    EXPECT_EQ(allowed == heard.end() ? "" : allowed->second, status == "http 405" ? "POST" : "");
    EXPECT_EQ(client.closed.at(id), 0U) << status;
    EXPECT_EQ(server.stream_count(), 0U);
  }
}

TEST(GrpcSession, what_is_under_way_has_a_limit_for_all_calls_together) {
  Connection both(kTightLimits);
  const std::string large(1'000, 'x');
  for (GrpcClientSession::Tag tag = 1; tag <= 3; ++tag) both.call(request_to("/a/b", large), tag);
  talk(both.client, both.server);
  const auto calls = both.server.take_calls();
  ASSERT_EQ(calls.size(), 2U);
  auto replies = both.client.take_replies();
  ASSERT_EQ(replies.size(), 1U);
  EXPECT_EQ(replies[0].reply.status, GrpcStatus::resource_exhausted);
  both.server.answer(calls[0].stream, reply_with(large));
  both.server.answer(calls[1].stream, reply_with(""));
  talk(both.client, both.server);
  both.call(request_to("/a/b", std::string(500, 'x')), 4);
  both.talk_and_echo();
  replies = both.client.take_replies();
  ASSERT_EQ(replies.size(), 3U);
  EXPECT_EQ(std::ranges::count(replies, GrpcStatus::ok,
                               [](const auto& each) { return each.reply.status; }),
            2);
}

TEST(GrpcSession, what_a_server_holds_has_a_limit_for_all_connections_together) {
  Budget budget(20'000);
  {
    GrpcServerSession servers[] = {GrpcServerSession({}, &budget), GrpcServerSession({}, &budget)};
    GrpcClientSession clients[] = {GrpcClientSession("a", {}), GrpcClientSession("a", {})};
    const auto call_on = [&](int which, std::size_t message_bytes) {
      (void)clients[which].call(request_to("/a/b", std::string(message_bytes, 'x')), 1);
      talk(clients[which], servers[which]);
      return clients[which].take_replies();
    };
    EXPECT_EQ(call_on(0, 7'000).size(), 0U);
    EXPECT_EQ(call_on(1, 7'000).size(), 0U);
    for (const int which : {0, 1}) {
      const auto refused = call_on(which, 7'000);
      ASSERT_EQ(refused.size(), 1U);
      EXPECT_EQ(refused[0].reply.status, GrpcStatus::resource_exhausted);
    }
    const auto calls = servers[0].take_calls();
    ASSERT_EQ(calls.size(), 1U);
    servers[0].answer(calls[0].stream, reply_with(""));
    talk(clients[0], servers[0]);
    EXPECT_EQ(clients[0].take_replies().size(), 1U);
    EXPECT_EQ(call_on(1, 7'000).size(), 0U) << "now there is room again";
  }
  EXPECT_EQ(budget.left_bytes(), 20'000U);
}

TEST(GrpcSession, a_call_that_is_refused_holds_nothing_though_its_answer_is_not_taken) {
  Budget budget(20'000);
  GrpcServerSession server({}, &budget);
  const std::string message = grpc_framed(std::string(5'000, 'x'));
  server.receive(std::string(kPreface) + frame(kSettings, 0, 0) +
                 frame(kHeaders, kEndHeaders, 1, header_block()) +
                 frame(kData, 0, 1, message.substr(0, 4'000)));
  EXPECT_LT(budget.left_bytes(), 16'000U);
  server.receive(frame(kData, 0, 1, message.substr(4'000) + "and more"));
  EXPECT_EQ(server.stream_count(), 1U);
  EXPECT_EQ(budget.left_bytes(), 20'000U);
}

TEST(GrpcSession, who_floods_is_asked_to_keep_calm) {
  const std::string block = header_block();
  const std::string open = frame(kHeaders, kEndHeaders, 1, block);
  const std::string ended = open + frame(kReset, 0, 1, "\0\0\0\x8"s);
  const std::string endless = frame(kHeaders, 0, 1, block);
  const auto more = [](StreamId) { return frame(kContinuation, 0, 1, "\0\1x\1y"s); };
  const struct {
    const char* name;
    std::string begin;
    std::string (*next)(StreamId odd);
  } floods[] = {
      {"PING", "", [](StreamId) { return frame(kPing, 0, 0, std::string(8, 'p')); }},
      {"SETTINGS", "", [](StreamId) { return frame(kSettings, 0, 0); }},
      {"WINDOW_UPDATE", "", [](StreamId) { return frame(kWindow, 0, 0, "\0\0\0\1"s); }},
      {"PRIORITY", "", [](StreamId id) { return frame(kPriority, 0, id, "\0\0\0\0\1"s); }},
      {"empty DATA", open, [](StreamId) { return frame(kData, 0, 1); }},
      {"padding", open, [](StreamId) { return frame(kData, 8, 1, "\3\0\0\0"s); }},
      {"empty DATA of an ended stream", ended, [](StreamId) { return frame(kData, 0, 1); }},
      {"padding of an ended stream", ended,
       [](StreamId) { return frame(kData, 8, 1, '\xff' + std::string(255, '\0')); }},
      {"unknown frames", "", [](StreamId) { return frame(0x42, 0, 0, "content"); }},
      {"CONTINUATION", endless, more},
      {"CONTINUATION of an ended stream", ended + endless, more},
      {"empty CONTINUATION", endless, [](StreamId) { return frame(kContinuation, 0, 1); }},
      {"rapid reset", "",
       [](StreamId id) {
         return frame(kHeaders, kEndHeaders, id, header_block()) +
                frame(kReset, 0, id, "\0\0\0\x8"s);
       }},
      {"rapid reset without an error", "",
       [](StreamId id) {
         return frame(kHeaders, kEndHeaders, id, header_block()) +
                frame(kData, kEndStream, id, grpc_framed("")) + frame(kReset, 0, id, "\0\0\0\0"s);
       }},
  };
  const auto now = Http2Session::Clock::now();
  for (const auto& [name, begin, next] : floods) {
    GrpcServerSession server(kTightLimits);
    std::string out;
    server.receive(std::string(kPreface) + frame(kSettings, 0, 0) + begin, now);
    server.send(out);
    int frames = 0;
    StreamId id = 1;
    for (; !server.is_over() && frames < 10'000; ++frames) {
      server.receive(next(id), now);
      id += 2;
      EXPECT_LE(server.stream_count(), kTightLimits.http2.streams);
      (void)server.take_calls();
      (void)server.take_given_up();
      server.send(out);
    }
    EXPECT_LE(frames, 110) << name;
    EXPECT_LE(out.size(), 5'000U) << name;
    ASSERT_GE(out.size(), 17U);
    EXPECT_EQ(out[out.size() - 17 + 3], kGoaway) << name;
    EXPECT_EQ(out.back(), 0xb) << name << ": ENHANCE_YOUR_CALM is the last word";
  }
}

/// Returns the number of frames until the connection ended, with a pause after each.
int frames_until_the_end(std::chrono::milliseconds pause, int most, std::string (*next)(StreamId)) {
  GrpcServerSession server(kTightLimits);
  auto now = Http2Session::Clock::now();
  server.receive(std::string(kPreface) + frame(kSettings, 0, 0), now);
  std::string out;
  int frames = 0;
  for (; !server.is_over() && frames < most; ++frames) {
    now += pause;
    server.receive(next(2 * frames + 1), now);
    (void)server.take_calls();
    (void)server.take_given_up();
    out.clear();
    server.send(out);
  }
  return frames;
}

TEST(GrpcSession, who_sends_as_much_in_a_longer_time_does_not_flood) {
  constexpr auto kPing_ = [](StreamId) { return frame(kPing, 0, 0, "12345678"); };
  constexpr auto kReset_ = [](StreamId id) {
    return frame(kHeaders, kEndHeaders, id, header_block()) + frame(kReset, 0, id, "\0\0\0\x8"s);
  };
  using std::chrono::milliseconds;
  EXPECT_EQ(frames_until_the_end(milliseconds(10'000), 2'000, kPing_), 2'000) << "keep-alive";
  EXPECT_EQ(frames_until_the_end(milliseconds(21), 2'000, kPing_), 2'000);
  EXPECT_NEAR(frames_until_the_end(milliseconds(10), 2'000, kPing_), 200, 5);
  EXPECT_EQ(frames_until_the_end(milliseconds(41), 2'000, kReset_), 2'000);
  EXPECT_NEAR(frames_until_the_end(milliseconds(20), 2'000, kReset_), 100, 5);
}

TEST(GrpcSession, calls_that_are_given_up_at_their_deadline_are_no_flood) {
  Connection both;
  auto now = Http2Session::Clock::now();
  const auto exchange = [&] {
    std::string forth, back;
    both.client.send(forth);
    both.server.receive(forth, now);
    both.server.send(back);
    both.client.receive(back, now);
  };
  for (int round = 0; round < 40; ++round) {
    both.ids.clear();
    for (GrpcClientSession::Tag tag = 0; tag < 100; ++tag) both.call(request_to("/a/b"), tag);
    exchange();
    ASSERT_EQ(both.server.take_calls().size(), 100U) << round;
    now += std::chrono::milliseconds(20);
    for (const StreamId id : both.ids) both.client.cancel(id);
    exchange();
    ASSERT_EQ(both.server.take_given_up().size(), 100U) << round;
  }
  EXPECT_FALSE(both.server.is_over());
}

TEST(GrpcSession, goaway_is_the_last_word_to_what_is_not_http_2) {
  for (const std::string& input :
       {"GET / HTTP/1.1\r\nHost: a\r\n\r\n"s, std::string(kPreface) + frame(kPing, 0, 0),
        std::string(kPreface) + std::string(100, '\xff')}) {
    GrpcServerSession server({});
    server.receive(input);
    std::string out;
    server.send(out);
    EXPECT_TRUE(server.is_over());
    const std::size_t goaway = out.rfind("\7\0\0\0\0"s);
    ASSERT_NE(goaway, std::string::npos) << testing::PrintToString(out);
    ASSERT_GE(out.size(), goaway + 14);
    EXPECT_NE(out[goaway + 13], 0) << "an error";
  }
}

TEST(GrpcSession, a_peer_that_reads_nothing_cannot_make_it_keep_more_and_more) {
  GrpcServerSession server({});
  server.receive(std::string(kPreface) + frame(kSettings, 0, 0));
  for (int i = 0; i < 100'000; ++i) server.receive(frame(kPing, 0, 0, "12345678"));
  std::string out;
  server.send(out, 100'000'000);
  EXPECT_LE(out.size(), 20'000U);
  EXPECT_TRUE(server.is_over());
}

TEST(GrpcSession, who_calls_again_and_again_does_not_flood) {
  Connection both(kTightLimits);
  for (int i = 0; i < 2'000; ++i) {
    both.call(request_to("/a/b", "x"), 1);
    both.talk_and_echo();
  }
  EXPECT_EQ(both.client.take_replies().size(), 2'000U);
  Connection large;
  for (int i = 0; i < 10; ++i) {
    (void)both.client.take_replies();
    large.call(request_to("/a/b", std::string(2'000'000, 'x')), 1);
    large.talk_and_echo();
  }
  EXPECT_EQ(large.client.take_replies().size(), 10U);
}

std::vector<std::string> frames_in(std::string_view bytes) {
  std::vector<std::string> frames;
  while (bytes.size() >= 9) {
    std::size_t size = 0;
    for (const char each : bytes.substr(0, 3)) size = size << 8 | static_cast<unsigned char>(each);
    frames.emplace_back(bytes.substr(0, 9 + size));
    bytes.remove_prefix(std::min(bytes.size(), 9 + size));
  }
  return frames;
}

TEST(GrpcSession, a_reply_that_was_cut_has_no_message) {
  Connection both;
  both.call(request_to("/a/b", "x"), 1);
  talk(both.client, both.server);
  both.server.answer(both.ids[0], reply_with("a message"));
  std::string sent;
  both.server.send(sent);
  for (const std::string& each : frames_in(sent)) {
    const bool is_data = each[3] == static_cast<char>(kData);
    both.client.receive(is_data ? frame(kData, 0, both.ids[0], each.substr(9, 8)) : each);
  }
  const auto replies = both.client.take_replies();
  ASSERT_EQ(replies.size(), 1U);
  EXPECT_EQ(replies[0].reply.status, GrpcStatus::internal);
  EXPECT_EQ(replies[0].reply.message, "");
}

/// Frames of which a few are duplicated, lost, swapped, cut or changed.
class Tamperer {
 public:
  explicit Tamperer(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_);
  }

  std::string tampered(std::vector<std::string> frames) {
    for (std::size_t i = 1 + below(4); i > 0; --i) {
      const auto at = frames.begin() + static_cast<std::ptrdiff_t>(below(frames.size()));
      switch (below(5)) {
        case 0: {
          std::string other = frames[below(frames.size())];
          frames.insert(at, std::move(other));
          break;
        }
        case 1:
          if (frames.size() > 1) frames.erase(at);
          break;
        case 2:
          std::swap(*at, frames[below(frames.size())]);
          break;
        case 3:
          at->resize(below(at->size() + 1));
          break;
        default:
          if (!at->empty()) (*at)[below(at->size())] = static_cast<char>(below(256));
      }
    }
    std::string bytes;
    for (const std::string& each : frames) bytes += each;
    return bytes;
  }

  std::string_view piece_of(std::string_view& bytes) {
    const std::string_view piece = bytes.substr(0, 1 + below(200));
    bytes.remove_prefix(piece.size());
    return piece;
  }

 private:
  std::mt19937 random_;
};

/// The seed, which TASKBENCH_SEED can set.
unsigned seed_of_tampering() {
  const char* const given = std::getenv("TASKBENCH_SEED");
  return given == nullptr ? 15U : static_cast<unsigned>(std::atoi(given));
}

/// The bytes of a connection, in both directions.
struct Recorded {
  Recorded() {
    Connection both;
    for (int i = 0; i < 4; ++i) both.call(request_to("/a/b", std::string(1U << i * 3, 'x')), 1);
    std::string sent, received;
    both.client.send(sent);
    both.server.receive(sent);
    both.client.cancel(both.ids[3]);
    both.client.send(sent);
    for (const auto& [stream, request] : both.server.take_calls()) {
      GrpcReply reply = reply_with(request.message);
      if (stream == both.ids[1]) reply.status = GrpcStatus::internal;
      reply.trailers = {{"x-trailer", "1"}};
      both.server.answer(stream, reply);
    }
    both.server.send(received);
    by_client = frames_in(std::string_view(sent).substr(kPreface.size()));
    by_server = frames_in(received);
    for (auto* const frames : {&by_client, &by_server}) {
      for (const int type : {kPing, kGoaway, kPushPromise, kPriority, kWindow, kSettings}) {
        frames->push_back(frame(type, 0, type == kPing ? 0 : 1, "\0\0\0\1\0\0\0\1"s));
      }
    }
  }

  std::vector<std::string> by_client;
  std::vector<std::string> by_server;
};

TEST(GrpcSession, a_server_survives_anything) {
  const unsigned seed = seed_of_tampering();
  SCOPED_TRACE(seed);
  Tamperer tamperer(seed);
  const Recorded good;
  ASSERT_GT(good.by_client.size(), 15U);
  int calls = 0;
  for (int round = 0; round < 3'000; ++round) {
    const std::string_view preface = tamperer.below(20) == 0 ? kPreface.substr(1) : kPreface;
    const std::string input = std::string(preface) + tamperer.tampered(good.by_client);
    GrpcServerSession server(kTightLimits);
    std::string out;
    for (std::string_view rest = input; !rest.empty() && !server.is_over();) {
      server.receive(tamperer.piece_of(rest));
      for (const auto& [stream, request] : server.take_calls()) {
        ++calls;
        ASSERT_LE(request.message.size(), kTightLimits.message_bytes);
        server.answer(stream, reply_with(request.message));
      }
      (void)server.take_given_up();
      server.send(out);
      ASSERT_LE(server.stream_count(), kTightLimits.http2.streams);
    }
    ASSERT_LE(out.size(), 10'000U);
  }
  EXPECT_GT(calls, 3'000) << "most is still understood";
}

TEST(GrpcSession, a_client_survives_anything) {
  const unsigned seed = seed_of_tampering();
  SCOPED_TRACE(seed);
  Tamperer tamperer(seed);
  const Recorded good;
  ASSERT_GT(good.by_server.size(), 15U);
  std::size_t replies = 0;
  for (int round = 0; round < 2'000; ++round) {
    const std::string input = tamperer.tampered(good.by_server);
    GrpcClientSession client("host:1", kTightLimits);
    for (GrpcClientSession::Tag tag = 0; tag < 4; ++tag) {
      (void)client.call(request_to("/a/b", "x"), tag);
    }
    std::string out;
    client.send(out);
    std::size_t heard = 0;
    for (std::string_view rest = input; !rest.empty() && !client.is_over();) {
      client.receive(tamperer.piece_of(rest));
      heard += client.take_replies().size();
      client.send(out);
    }
    ASSERT_LE(heard, 4U) << "one for each call at most";
    ASSERT_LE(out.size(), 10'000U);
    replies += heard;
  }
  EXPECT_GT(replies, 2'000U) << "most is still understood";
}

}  // namespace
}  // namespace taskbench::workloads::net
