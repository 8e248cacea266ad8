// The server's end of an HTTP/1.1 connection, without its socket: takes received bytes and returns
// bytes to send. The parser is Boost.Beast's.
//
// GET / and HEAD / get a greeting; POST / gets the size of its body, which may be chunked; OPTIONS
// lists these methods, for / and for the server ("*"). Targets may be absolute, and may have a
// query, which is ignored. Requests may be pipelined. Requests that no server should accept (RFC
// 9110 and 9112) are answered with the appropriate status and end the connection, since the
// beginning of the next request is unknown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace taskbench::workloads::net {

struct HttpLimits {
  std::uint32_t header_bytes = 8'192;        ///< of a request; more: 431
  std::uint64_t body_bytes = 1'024 * 1'024;  ///< of a request; more: 413
};

class HttpSession {
 public:
  explicit HttpSession(const HttpLimits& limits);
  ~HttpSession();

  /// `in` is the part that was not taken before, followed by new bytes, at most header_bytes in
  /// total. Appends bytes to send to `out`, and returns the number of bytes taken. Given
  /// header_bytes, it takes some or the session is over.
  [[nodiscard]] std::size_t receive(std::string_view in, std::string& out);

  /// Answers 503, since there is no room for this client, and ends the session.
  void end_busy(std::string& out);

  /// Whether there is nothing left to receive; the connection ends once everything is sent.
  [[nodiscard]] bool is_over() const { return is_over_; }
  /// Whether every request that has begun was answered.
  [[nodiscard]] bool is_between_requests() const;
  /// The number of requests that were completely received and answered.
  [[nodiscard]] std::uint64_t answered() const { return answered_; }

 private:
  class Request;
  struct Parser;

  [[nodiscard]] std::size_t receive_some(std::string_view in, std::string& out);
  void answer(std::string& out);
  void refuse(unsigned status, std::string& out);
  void respond(unsigned status, std::string_view text, std::string& out);

  const HttpLimits limits_;
  const std::unique_ptr<Parser> parser_;
  std::size_t header_taken_ = 0;  // of the current request
  bool is_over_ = false;
  std::uint64_t answered_ = 0;
};

/// A request to which the response is a greeting.
inline constexpr std::string_view kGreetMe = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// The response to kGreetMe: at `date_at` it has a date of `date_bytes` bytes.
struct Greeting {
  std::string text;
  std::size_t date_at;
  std::size_t date_bytes;
};
[[nodiscard]] Greeting greeting();

}  // namespace taskbench::workloads::net
