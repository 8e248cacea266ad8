// The messages and headers of gRPC over HTTP/2 that unary calls need
// (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md): no compression, no streams.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace taskbench::workloads::net {

enum class GrpcStatus : std::uint8_t {
  ok = 0,
  cancelled = 1,
  unknown = 2,
  invalid_argument = 3,
  deadline_exceeded = 4,
  permission_denied = 7,
  resource_exhausted = 8,
  unimplemented = 12,
  internal = 13,
  unavailable = 14,
  unauthenticated = 16,
};

/// Custom headers of callers. Values of names that end in "-bin" are in base64.
using GrpcMetadata = std::vector<std::pair<std::string, std::string>>;

using GrpcClock = std::chrono::steady_clock;

struct GrpcRequest {
  std::string path;  ///< "/package.Service/Method"
  std::string message;
  std::optional<GrpcClock::time_point> deadline;
  GrpcMetadata metadata;
};

struct GrpcReply {
  GrpcStatus status = GrpcStatus::ok;
  std::string text;     ///< the error, for readers
  std::string message;  ///< empty if there is an error
  GrpcMetadata headers;
  GrpcMetadata trailers;
};

/// The reason for refusing a message or a header; ok: not refused.
struct GrpcFault {
  GrpcStatus status = GrpcStatus::ok;
  std::string_view text;

  explicit operator bool() const { return status != GrpcStatus::ok; }
};

inline constexpr std::string_view kGrpcContentType = "application/grpc";

/// A message as sent: preceded by a byte that says that it is not compressed, and by its length.
[[nodiscard]] std::string grpc_framed(std::string_view message);

/// A message that arrives in pieces.
class GrpcMessage {
 public:
  /// Adds the next piece of a body that must be one message of at most `most_bytes`.
  [[nodiscard]] GrpcFault append(std::string_view piece, std::size_t most_bytes);
  /// The error if there are no more pieces.
  [[nodiscard]] GrpcFault end() const;

  /// The size that the sender announced; 0 while it is unknown.
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool is_begun() const { return prefix_.size() == kPrefix_bytes; }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  static constexpr std::size_t kPrefix_bytes = 5;

  std::string prefix_;
  std::size_t size_ = 0;
  std::string bytes_;
};

/// Parses the value of "grpc-timeout": "100m" is 100 milliseconds. nullopt: it is invalid.
[[nodiscard]] std::optional<std::chrono::nanoseconds> parse_grpc_timeout(std::string_view text);
/// Writes a timeout in the finest unit that can represent it, rounded up; less than 1 ns becomes 0.
[[nodiscard]] std::string grpc_timeout_text(std::chrono::nanoseconds timeout);

/// Encodes and decodes the value of "grpc-message".
[[nodiscard]] std::string percent_encoded(std::string_view text);
[[nodiscard]] std::string percent_decoded(std::string_view text);

/// Parses the value of "grpc-status"; unknown if it is invalid.
[[nodiscard]] GrpcStatus parse_grpc_status(std::string_view text);
/// The status that callers get for an HTTP status other than 200.
[[nodiscard]] GrpcStatus grpc_status_of_http(std::string_view status);

/// Whether a header is HTTP's or gRPC's own, rather than a caller's.
[[nodiscard]] bool is_reserved_in_grpc(std::string_view header);

}  // namespace taskbench::workloads::net
