// The server's side of an HTTP/1.1 connection, without the connection: takes what has come in, and
// says what goes out. The parser is Boost.Beast's.
//
// GET / and HEAD / are greeted, and POST / is told how large its body was, which may be chunked;
// OPTIONS says that these are the methods, of / and of the server ("*"). Targets may be absolute,
// and have a query, which changes nothing. Requests may be pipelined. What no server should take
// (RFC 9110 and 9112) is answered with the status that says so, and ends the connection: nobody
// knows where the next request would begin.
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

  /// `in` is what was not taken before, with more behind it, at most header_bytes. Appends what is
  /// to be sent to `out`, and returns how much it took. Of as much as that, it takes something or
  /// the session is over.
  [[nodiscard]] std::size_t receive(std::string_view in, std::string& out);

  /// There is no room for this client: 503, and the end.
  void end_busy(std::string& out);

  /// Nothing more is to be received; the connection ends once all is sent.
  [[nodiscard]] bool is_over() const { return is_over_; }
  /// Nothing was taken of a request that was not answered.
  [[nodiscard]] bool is_between_requests() const;
  /// Requests that were received in full and answered.
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
  std::size_t header_taken_ = 0;  // of the request that is being received
  bool is_over_ = false;
  std::uint64_t answered_ = 0;
};

/// A request that is greeted.
inline constexpr std::string_view kGreetMe = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// The answer to it: from `date_at` on it has a date of `date_bytes`.
struct Greeting {
  std::string text;
  std::size_t date_at;
  std::size_t date_bytes;
};
[[nodiscard]] Greeting greeting();

}  // namespace taskbench::workloads::net
