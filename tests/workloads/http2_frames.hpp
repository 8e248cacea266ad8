// The bytes of a valid call over HTTP/2, for tests that send them in invalid ways.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "workloads/net/http2_header_trimmer.hpp"

namespace taskbench::workloads::net {

inline constexpr std::pair<std::string_view, std::string_view> kGoodCall[] = {
    {":method", "POST"},    {":scheme", "http"}, {":path", "/a/b"},
    {":authority", "host"}, {"te", "trailers"},  {"content-type", "application/grpc"}};

/// An HTTP/2 frame.
inline std::string frame(int type, int flags, StreamId stream, std::string_view payload = "") {
  std::string bytes;
  for (const int shift : {16, 8, 0}) bytes += static_cast<char>(payload.size() >> shift & 0xff);
  bytes += static_cast<char>(type);
  bytes += static_cast<char>(flags);
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(stream >> shift & 0xff);
  return bytes.append(payload);
}

enum FrameType {
  kData,
  kHeaders,
  kPriority,
  kReset,
  kSettings,
  kPushPromise,
  kPing,
  kGoaway,
  kWindow,
  kContinuation
};
inline constexpr int kEndStream = 1, kEndHeaders = 4;
inline constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The headers of a valid request, in a form that needs no state.
inline std::string header_block() {
  std::string block;
  for (const auto& [name, value] : kGoodCall) {
    block += '\0';
    block += static_cast<char>(name.size());
    block += name;
    block += static_cast<char>(value.size());
    block += value;
  }
  return block;
}

}  // namespace taskbench::workloads::net
