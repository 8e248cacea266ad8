// The HTTP server's answers to valid and invalid input, without a connection.
#include "workloads/net/http_session.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "tests/workloads/http_clients.hpp"

namespace taskbench::workloads::net {
namespace {

constexpr HttpLimits kLimits{.header_bytes = 256, .body_bytes = 100};
constexpr std::string_view kGet = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

/// What a session makes of input that arrives in pieces.
struct Conversation {
  /// Offers `input` like a connection: what was not taken, with at most `piece` bytes more.
  void send(std::string_view input, std::size_t piece = SIZE_MAX) {
    while (!session.is_over()) {
      const std::size_t room = kLimits.header_bytes - unread.size();
      const std::size_t more = std::min({input.size(), room, piece});
      if (more == 0) {
        ASSERT_GT(room, 0U) << "it takes nothing of all that it may be given";
        return;
      }
      unread.append(input.substr(0, more));
      input.remove_prefix(more);
      unread.erase(0, session.receive(unread, out));
    }
  }

  /// Returns the status codes of all responses, each of which must be complete.
  std::vector<int> statuses(bool to_head = false) const {
    std::vector<int> codes;
    for (std::size_t at = 0; at < out.size();) {
      EXPECT_EQ(out.compare(at, 9, "HTTP/1.1 "), 0) << out.substr(at);
      codes.push_back(std::atoi(out.c_str() + at + 9));
      const std::size_t end = out.find("\r\n\r\n", at);
      if (end == std::string::npos) return {};
      const std::size_t length = out.find("Content-Length: ", at);
      at = end + 4;
      if (length < end && !to_head) at += std::strtoul(out.c_str() + length + 16, nullptr, 10);
      EXPECT_LE(at, out.size());
    }
    return codes;
  }

  HttpSession session{kLimits};
  std::string unread;
  std::string out;
};

using Codes = std::vector<int>;

TEST(HttpSession, greets_and_keeps_the_connection) {
  Conversation talk;
  talk.send(kGet);
  EXPECT_EQ(talk.statuses(), Codes{200});
  EXPECT_TRUE(talk.out.ends_with("\r\n\r\nHello, world!"));
  EXPECT_NE(talk.out.find("Date: "), std::string::npos);
  EXPECT_EQ(talk.out.find("Connection:"), std::string::npos);
  talk.send(kGet);
  EXPECT_EQ(talk.statuses(), (Codes{200, 200}));
  EXPECT_EQ(talk.session.answered(), 2U);
  EXPECT_TRUE(talk.session.is_between_requests());
}

TEST(HttpSession, where_pieces_end_does_not_matter) {
  const std::string input = std::string(kGet) +
                            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabcde\r\n"
                            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                            "3;x=y\r\nabc\r\n1\r\nd\r\n0\r\nTrailer: t\r\n\r\n" +
                            "GET /there HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  Conversation whole;
  whole.send(input);
  EXPECT_EQ(whole.statuses(), (Codes{200, 200, 200, 404}));
  EXPECT_NE(whole.out.find("\r\n\r\n5 bytes\n"), std::string::npos);
  EXPECT_NE(whole.out.find("\r\n\r\n4 bytes\n"), std::string::npos);
  EXPECT_TRUE(whole.session.is_over());
  for (std::size_t piece = 1; piece < 60; ++piece) {
    Conversation talk;
    talk.send(input, piece);
    EXPECT_EQ(talk.statuses(), (Codes{200, 200, 200, 404})) << piece;
  }
}

TEST(HttpSession, a_body_may_contain_bare_line_feeds_wherever_the_pieces_end) {
  constexpr std::string_view kPost =
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n\na\nb\n";
  for (std::size_t first = 1; first < kPost.size(); ++first) {
    Conversation talk;
    talk.send(kPost.substr(0, first));
    talk.send(kPost.substr(first));
    EXPECT_EQ(talk.statuses(), Codes{200}) << first;
    EXPECT_TRUE(talk.out.ends_with("\r\n\r\n5 bytes\n")) << first;
  }
}

TEST(HttpSession, head_has_no_body_and_http_1_0_keeps_alive_only_when_asked) {
  Conversation head;
  head.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(head.statuses(true), Codes{200});
  EXPECT_TRUE(head.out.ends_with("\r\n\r\n"));

  Conversation old;
  old.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_FALSE(old.session.is_over());
  EXPECT_NE(old.out.find("Connection: keep-alive\r\n"), std::string::npos);
  old.send("GET / HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(old.session.is_over());
  EXPECT_EQ(old.statuses(), (Codes{200, 200}));
}

TEST(HttpSession, tells_who_waits_to_send_a_body_to_go_on) {
  Conversation talk;
  talk.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n");
  EXPECT_EQ(talk.out, "HTTP/1.1 100 Continue\r\n\r\n");
  talk.send("x");
  EXPECT_EQ(talk.statuses(), (Codes{100, 200}));
}

TEST(HttpSession, a_client_of_http_1_0_is_not_told_to_go_on) {
  Conversation talk;
  talk.send("POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n");
  EXPECT_EQ(talk.out, "");
  talk.send("x");
  EXPECT_EQ(talk.statuses(), Codes{200});
}

TEST(HttpSession, refuses_what_is_wrong_and_ends_the_connection) {
  const std::string long_header = "X: " + std::string(300, 'x') + "\r\n";
  std::string many_headers;
  for (int i = 0; i < 50; ++i) many_headers += "X-Name: a value\r\n";
  const std::string get = "GET / HTTP/1.1\r\nHost: a\r\n";
  const std::string post = "POST / HTTP/1.1\r\nHost: a\r\n";
  const std::string chunked = post + "Transfer-Encoding: chunked\r\n\r\n";
  const struct {
    std::string input;
    int status;
  } cases[] = {
      {"\x16\x03\x01 hello", 400},
      {"GET /\r\n\r\n", 400},
      {"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET / HTTP/1.1\nHost: a\r\n\r\n", 400},
      {"GET / HTTP/1.1\nHost: a\n\n", 400},
      {get + "X: y\n\r\n", 400},
      {"GET / HTTP/3.0\r\nHost: a\r\n\r\n", 505},
      {"GET / HTTP/0.9\r\nHost: a\r\n\r\n", 505},
      {"GET / HTTP/1.1\r\nHost: a b/\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a/\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a:x\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a:1:2\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: :80\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: :\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: [::1]x\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: %zz\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a%2\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: %\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: [zz]\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: []\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: [1.2.3.4]\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: [::1%25lo]\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: [::1::]\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: [v.a]\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: [v1.]\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: [vx.a]\r\n\r\n", 400},
      {"GET http://%zz/ HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET http://[zz]/ HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET http://:80/ HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"CONNECT [zz]:80 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"CONNECT :80 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET /?%a HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET there HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET /#x HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505},
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {get + "Host: b\r\n\r\n", 400},
      {get + "No colon\r\n\r\n", 400},
      {get + "Space : x\r\n\r\n", 400},
      {get + std::string("X: a\0b\r\n\r\n", 10), 400},
      {get + long_header + "\r\n", 431},
      {get + many_headers + "\r\n", 431},
      {"GET /" + std::string(300, 'x') + " HTTP/1.1\r\n\r\n", 431},
      {post + "Content-Length: 101\r\n\r\n", 413},
      {post + "Content-Length: x\r\n\r\n", 400},
      {post + "Content-Length: -1\r\n\r\n", 400},
      {post + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
      {post + "Content-Length: 18446744073709551617\r\n\r\n", 400},
      {post + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {post + "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", 400},
      {post + "Transfer-Encoding: gzip\r\n\r\n", 501},
      {post + "Transfer-Encoding: gzip, chunked\r\n\r\n", 501},
      {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {chunked + "x\r\n\r\n", 400},
      {chunked + "3\r\nabcd\r\n0\r\n\r\n", 400},
      {chunked + "65\r\nx", 413},
      {chunked + "64\r\n" + std::string(100, 'x') + "\r\n1\r\nx", 413},
      {chunked + "ffffffffffffffffff\r\n", 400},
      {chunked + "1;a=\"\n\"\r\nx\r\n0\r\n\r\n", 400},
      {chunked + "1\r\nx\r\n0;a=\"\n\"\r\n\r\n", 400},
      {chunked + "3;" + std::string(300, 'x') + "\r\n", 431},
      {chunked + "0\r\n" + many_headers + "\r\n", 431},
      {get + "Expect: miracles\r\n\r\n", 417},
  };
  for (const auto& [input, status] : cases) {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, SIZE_MAX}) {
      Conversation talk;
      talk.send(input, piece);
      EXPECT_EQ(talk.statuses(), Codes{status}) << input;
      EXPECT_TRUE(talk.session.is_over()) << input;
      EXPECT_NE(talk.out.find("Connection: close\r\n"), std::string::npos);
      EXPECT_EQ(talk.session.answered(), 0U);
    }
  }
}

TEST(HttpSession, methods_that_it_does_not_have_are_said_to_be_so) {
  Conversation talk;
  talk.send("DELETE / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_NE(talk.out.find("Allow: GET, HEAD, OPTIONS, POST\r\n"), std::string::npos);
  talk.send("BREW / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(talk.statuses(), (Codes{405, 501}));
}

TEST(HttpSession, a_target_has_any_of_its_forms_and_a_query_changes_nothing) {
  const struct {
    std::string_view line;
    int status;
    std::string_view host = "a:80";
  } cases[] = {
      {"GET /?x=1&y=/ HTTP/1.1", 200},
      {"GET /?? HTTP/1.1", 200},
      {"GET /there?x HTTP/1.1", 404},
      {"GET http://a/ HTTP/1.1", 200},
      {"GET HTTP://a:80/?x HTTP/1.1", 200},
      {"GET http://a HTTP/1.1", 200},
      {"GET http://a?x HTTP/1.1", 200},
      {"GET http://[::1]:80/ HTTP/1.1", 200, "[::1]:80"},
      {"GET http://a/there HTTP/1.1", 404},
      {"GET / HTTP/1.1", 200, ""},
      {"GET / HTTP/1.1", 200, "%41.example:80"},
      {"GET / HTTP/1.1", 200, "[2001:db8::ff:1.2.3.4]"},
      {"GET / HTTP/1.1", 200, "[v1F.a:b]:80"},
      {"GET /?%2f HTTP/1.1", 200},
      {"GET /%74here HTTP/1.1", 404},
      {"GET / HTTP/1.2", 200},
      {"GET / HTTP/1.9", 200},
      {"OPTIONS * HTTP/1.1", 200},
      {"OPTIONS http://a HTTP/1.1", 200},
      {"OPTIONS / HTTP/1.1", 200},
      {"OPTIONS /there HTTP/1.1", 404},
      {"CONNECT a:80 HTTP/1.1", 405},
  };
  for (const auto& [line, status, host] : cases) {
    for (const std::size_t piece : {std::size_t{1}, SIZE_MAX}) {
      Conversation talk;
      talk.send(std::string(line) + "\r\nHost: " + std::string(host) + "\r\n\r\n", piece);
      EXPECT_EQ(talk.statuses(), Codes{status}) << line;
      EXPECT_FALSE(talk.session.is_over()) << line;
      const bool says_methods =
          talk.out.find("Allow: GET, HEAD, OPTIONS, POST\r\n") != std::string::npos;
      EXPECT_EQ(says_methods, status == 405 || (status == 200 && line.starts_with("OPTIONS")));
    }
  }
}

TEST(HttpSession, answers_to_a_burst_are_bounded_by_what_may_be_unread) {
  Conversation talk;
  std::string burst;
  while (burst.size() < kLimits.header_bytes) burst += kGet;
  talk.unread = burst.substr(0, kLimits.header_bytes);
  EXPECT_GT(talk.session.receive(talk.unread, talk.out), kLimits.header_bytes - kGet.size());
  EXPECT_LT(talk.out.size(), 200 * (1 + kLimits.header_bytes / kGet.size()));
}

TEST(HttpSession, the_greeting_differs_from_an_answer_in_its_date_only) {
  Conversation talk;
  talk.send(kGet);
  const Greeting expected = greeting();
  ASSERT_EQ(expected.date_bytes, 29U);
  talk.out.replace(expected.date_at, expected.date_bytes, expected.text, expected.date_at,
                   expected.date_bytes);
  EXPECT_EQ(talk.out, expected.text);
}

// TASKBENCH_SEED sets another seed.
TEST(HttpSession, survives_anything) {
  BadRequests requests;
  SCOPED_TRACE(requests.seed());
  for (int round = 0; round < 5'000; ++round) {
    const std::string input = requests.next();
    Conversation talk;
    talk.send(input, 1 + requests.below(80));
    const Codes codes = talk.statuses();
    const auto refused = std::ranges::count_if(codes, [](int code) { return code >= 400; });
    ASSERT_LE(refused, 4) << input;
    ASSERT_LT(talk.out.size(), 8'000U);
  }
}

}  // namespace
}  // namespace taskbench::workloads::net
