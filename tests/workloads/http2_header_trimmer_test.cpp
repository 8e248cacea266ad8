// Headers larger than nghttp2 permits, and the header table after them.
#include "workloads/net/http2_header_trimmer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "tests/workloads/http2_frames.hpp"
#include "workloads/net/grpc_session.hpp"

namespace taskbench::workloads::net {
namespace {

using namespace std::string_literals;

/// A header in HPACK, without Huffman coding, to be added to the table or not.
std::string literal(std::string_view name, std::string_view value, bool is_added) {
  std::string bytes(1, is_added ? '\x40' : '\0');
  for (const std::string_view text : {name, value}) {
    std::size_t rest = text.size();
    if (rest < 127) {
      bytes += static_cast<char>(rest);
    } else {
      bytes += '\x7f';
      for (rest -= 127; rest >= 128; rest >>= 7) bytes += static_cast<char>(rest | 128);
      bytes += static_cast<char>(rest);
    }
    bytes += text;
  }
  return bytes;
}

/// A block of headers in as many frames as it needs, the first with padding and a priority.
std::string headers_of(StreamId id, std::string_view block, std::size_t frame_bytes) {
  constexpr int kHasPadding = 8, kHasPriority = 32;
  std::string bytes;
  for (bool is_first = true; is_first || !block.empty(); is_first = false) {
    const std::string_view some = block.substr(0, frame_bytes);
    block.remove_prefix(some.size());
    const int end = block.empty() ? kEndHeaders : 0;
    bytes += is_first ? frame(kHeaders, kHasPadding | kHasPriority | end, id,
                              "\3\0\0\0\0\x10"s + std::string(some) + "\0\0\0"s)
                      : frame(kContinuation, end, id, some);
  }
  return bytes;
}

TEST(Http2HeaderTrimmer, metadata_of_any_size_costs_its_own_call_only) {
  const auto talk_to = [](std::size_t value_bytes, bool is_added, std::size_t frame_bytes,
                          std::size_t piece_bytes) {
    GrpcServerSession server({});
    const auto tell = [&](std::string_view bytes) {
      for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), piece_bytes))) {
        server.receive(bytes.substr(0, piece_bytes));
      }
    };
    const std::string large(value_bytes, 'v');
    const auto call_on = [](StreamId id) { return frame(kData, kEndStream, id, grpc_framed("x")); };
    tell(std::string(kPreface) + frame(kSettings, 0, 0));
    // An entry of the table, a valid call, two that are too large, and valid ones that use the
    // table.
    tell(headers_of(1, header_block() + literal("x-entry", "one", true), frame_bytes) + call_on(1));
    for (const StreamId id : {3, 5}) {
      tell(headers_of(id,
                      header_block() + literal("x-large", large, is_added) +
                          literal("x-entry", "two", true),
                      frame_bytes) +
           call_on(id));
    }
    tell(headers_of(7, header_block() + "\xbe"s, frame_bytes) + call_on(7));
    if (!is_added) tell(headers_of(9, header_block() + "\xc0"s, frame_bytes) + call_on(9));
    const auto calls = server.take_calls();
    const std::size_t good = is_added ? 2 : 3;
    ASSERT_EQ(calls.size(), good);
    EXPECT_EQ(calls[0].request.metadata, (GrpcMetadata{{"x-entry", "one"}}));
    EXPECT_EQ(calls[1].stream, 7);
    EXPECT_EQ(calls[1].request.metadata, (GrpcMetadata{{"x-entry", "two"}}));
    const GrpcMetadata last{{"x-entry", is_added ? "two" : "one"}};
    EXPECT_EQ(calls.back().request.metadata, last);
    std::string out;
    server.send(out, 1'000'000);
    EXPECT_FALSE(server.is_over());
    EXPECT_EQ(server.stream_count(), good) << "the others have heard that they are refused";
  };
  for (const std::size_t value_bytes : {9'000U, 32'769U, 100'000U, 1'000'000U}) {
    for (const bool is_added : {false, true}) {
      for (const std::size_t frame_bytes : {16'000U, 4'001U, 999U}) {
        SCOPED_TRACE(testing::Message() << value_bytes << " " << is_added << " " << frame_bytes);
        talk_to(value_bytes, is_added, frame_bytes, SIZE_MAX);
      }
    }
  }
  talk_to(100'000, true, 16'000, 7);
  talk_to(100'000, false, 150, SIZE_MAX);
}

TEST(Http2HeaderTrimmer, a_call_with_a_name_that_was_cut_is_refused_whenever_its_value_arrives) {
  const std::string block = header_block() + literal(std::string(40'000, 'n'), "value", false);
  for (const std::size_t piece_bytes : {7U, 1'000U, 100'000U}) {
    GrpcServerSession server({});
    const std::string bytes = std::string(kPreface) + frame(kSettings, 0, 0) +
                              headers_of(1, block, 16'000) +
                              frame(kData, kEndStream, 1, grpc_framed("x")) +
                              frame(kHeaders, kEndHeaders, 3, header_block()) +
                              frame(kData, kEndStream, 3, grpc_framed("y"));
    for (std::string_view rest = bytes; !rest.empty();) {
      server.receive(rest.substr(0, piece_bytes));
      rest.remove_prefix(std::min(rest.size(), piece_bytes));
    }
    const auto calls = server.take_calls();
    ASSERT_EQ(calls.size(), 1U) << piece_bytes;
    EXPECT_EQ(calls.front().stream, 3) << piece_bytes;
    EXPECT_EQ(calls.front().request.metadata, GrpcMetadata()) << piece_bytes;
  }
}

TEST(Http2HeaderTrimmer, a_reset_of_a_stream_that_was_never_opened_costs_nobody_the_connection) {
  const std::string reset_code("\0\0\0\x8"s);
  for (const std::size_t piece_bytes : {1U, 7U, 100'000U}) {
    GrpcServerSession server({});
    const auto tell = [&](std::string_view bytes) {
      for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), piece_bytes))) {
        server.receive(bytes.substr(0, piece_bytes));
      }
    };
    tell(std::string(kPreface) + frame(kSettings, 0, 0));
    tell(frame(kHeaders, kEndHeaders, 1, header_block()));
    for (StreamId id = 3; id < 100; id += 2) tell(frame(kReset, 0, id, reset_code));
    tell(frame(kData, kEndStream, 1, grpc_framed("x")));
    tell(frame(kHeaders, kEndHeaders, 101, header_block()));
    tell(frame(kReset, 0, 101, reset_code));  // of an open stream: passed on
    EXPECT_FALSE(server.is_over()) << piece_bytes;
    const auto calls = server.take_calls();
    ASSERT_EQ(calls.size(), 1U) << piece_bytes;
    EXPECT_EQ(calls.front().stream, 1);
    // A flood of resets ends the connection like any other.
    for (int i = 0; i < 20'000; ++i) tell(frame(kReset, 0, 1'001, reset_code));
    std::string out;
    server.send(out);
    EXPECT_TRUE(server.is_over()) << piece_bytes;
  }
}

}  // namespace
}  // namespace taskbench::workloads::net
