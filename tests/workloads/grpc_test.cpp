// What gRPC writes into headers and bodies.
#include "workloads/net/grpc.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace taskbench::workloads::net {
namespace {

using std::chrono::nanoseconds;
using namespace std::chrono_literals;
using namespace std::string_literals;

TEST(Grpc, a_message_stands_behind_its_length_and_may_come_in_pieces) {
  EXPECT_EQ(grpc_framed("abc"), "\0\0\0\0\3abc"s);
  const std::string large(70'000, 'x');
  const std::string framed = grpc_framed(large);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, std::size_t{4'096}}) {
    GrpcMessage message;
    for (std::size_t at = 0; at < framed.size(); at += piece) {
      ASSERT_FALSE(message.append(std::string_view(framed).substr(at, piece), large.size()));
    }
    EXPECT_FALSE(message.end());
    EXPECT_EQ(message.take(), large);
  }
}

TEST(Grpc, what_is_no_message_is_refused) {
  const struct {
    std::string body;
    GrpcStatus status;
  } cases[] = {
      {"", GrpcStatus::unimplemented},
      {"\0\0"s, GrpcStatus::internal},
      {"\0\0\0\0\3ab"s, GrpcStatus::internal},
      {"\1\0\0\0\1a"s, GrpcStatus::unimplemented},
      {"\2\0\0\0\1a"s, GrpcStatus::internal},
      {"\0\0\0\0\1ab"s, GrpcStatus::unimplemented},
      {"\0\0\0\0\1a\0\0\0\0\1a"s, GrpcStatus::unimplemented},
      {"\0\0\0\0\x0b"s, GrpcStatus::resource_exhausted},
      {"\0\xff\xff\xff\xff"s, GrpcStatus::resource_exhausted},
      {"\0\0\0\0\0"s, GrpcStatus::ok},
      {"\0\0\0\0\x0a"s + "0123456789", GrpcStatus::ok},
  };
  for (const auto& [body, status] : cases) {
    GrpcMessage message;
    GrpcFault fault = message.append(body, 10);
    if (!fault) fault = message.end();
    EXPECT_EQ(fault.status, status) << testing::PrintToString(body);
    EXPECT_EQ(fault.text.empty(), status == GrpcStatus::ok);
  }
}

TEST(Grpc, timeouts_have_eight_digits_and_a_unit) {
  const struct {
    std::string_view text;
    std::optional<nanoseconds> timeout;
  } cases[] = {
      {"1n", 1ns},
      {"20u", 20us},
      {"100m", 100ms},
      {"1S", 1s},
      {"99999999S", 99'999'999s},
      {"5M", 5min},
      {"3H", 3h},
      {"0n", 0ns},
      {"99999999H", nanoseconds::max() / 1h * 1h},
      {"", {}},
      {"m", {}},
      {"100", {}},
      {"100x", {}},
      {"-1m", {}},
      {"+1m", {}},
      {"1.5S", {}},
      {"999999999n", {}},
      {"1 m", {}},
  };
  for (const auto& [text, timeout] : cases) EXPECT_EQ(parse_grpc_timeout(text), timeout) << text;
  for (const nanoseconds timeout : {0ns, 1ns, nanoseconds(99'999'999), nanoseconds(20ms),
                                    nanoseconds(1min), nanoseconds(10h)}) {
    EXPECT_EQ(parse_grpc_timeout(grpc_timeout_text(timeout)), timeout);
  }
  EXPECT_EQ(grpc_timeout_text(100'000'000ns), "100000u");
  EXPECT_EQ(grpc_timeout_text(100'000'001ns), "100001u") << "never shorter than it was";
  EXPECT_EQ(grpc_timeout_text(-1s), "0n");
}

TEST(Grpc, messages_for_people_are_percent_encoded) {
  EXPECT_EQ(percent_encoded("all well"), "all well");
  EXPECT_EQ(percent_encoded("100 %\n\xc3\xa9"), "100 %25%0A%C3%A9");
  EXPECT_EQ(percent_decoded("100 %25%0a%C3%A9"), "100 %\n\xc3\xa9");
  EXPECT_EQ(percent_decoded("%"), "%");
  EXPECT_EQ(percent_decoded("%4"), "%4");
  EXPECT_EQ(percent_decoded("%zz%41"), "%zzA");
}

TEST(Grpc, what_is_no_status_is_unknown) {
  EXPECT_EQ(parse_grpc_status("0"), GrpcStatus::ok);
  EXPECT_EQ(parse_grpc_status("12"), GrpcStatus::unimplemented);
  for (const char* text : {"", "17", "256", "-1", "x", "1 "}) {
    EXPECT_EQ(parse_grpc_status(text), GrpcStatus::unknown) << text;
  }
  EXPECT_EQ(grpc_status_of_http("404"), GrpcStatus::unimplemented);
  EXPECT_EQ(grpc_status_of_http("503"), GrpcStatus::unavailable);
  EXPECT_EQ(grpc_status_of_http("418"), GrpcStatus::unknown);
}

}  // namespace
}  // namespace taskbench::workloads::net
