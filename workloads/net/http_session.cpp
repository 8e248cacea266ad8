#include "workloads/net/http_session.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/beast/http/basic_parser.hpp>
#include <ctime>
#include <iterator>
#include <optional>
#include <utility>

namespace taskbench::workloads::net {
namespace {

namespace http = boost::beast::http;

constexpr std::string_view kGreeting = "Hello, world!";
constexpr std::string_view kLastChunk = "0\r\n\r\n";

struct Status {
  unsigned code;
  std::string_view text;
};
constexpr std::array kStatuses{
    Status{200, "OK"},
    Status{400, "Bad Request"},
    Status{404, "Not Found"},
    Status{405, "Method Not Allowed"},
    Status{413, "Content Too Large"},
    Status{417, "Expectation Failed"},
    Status{431, "Request Header Fields Too Large"},
    Status{501, "Not Implemented"},
    Status{503, "Service Unavailable"},
    Status{505, "HTTP Version Not Supported"},
};

bool is_digit(char each) { return each >= '0' && each <= '9'; }

bool is_letter_up_to(char last, char each) {
  const char lower = static_cast<char>(each | 0x20);
  return lower >= 'a' && lower <= last;
}

bool is_hex_digit(char each) { return is_digit(each) || is_letter_up_to('f', each); }

/// The characters of names that are not escaped: "unreserved" and "sub-delims" (RFC 3986, 2).
bool is_of_name(char each) {
  constexpr std::string_view kMarks = "-._~!$&'()*+,;=";
  return is_digit(each) || is_letter_up_to('z', each) ||
         kMarks.find(each) != std::string_view::npos;
}

/// Whether two hexadecimal digits follow each '%' (RFC 3986, 2.1).
bool has_whole_escapes(std::string_view text) {
  for (std::size_t at = 0; (at = text.find('%', at)) != std::string_view::npos; at += 3) {
    if (text.size() - at < 3 || !is_hex_digit(text[at + 1]) || !is_hex_digit(text[at + 2])) {
      return false;
    }
  }
  return true;
}

bool is_registered_name(std::string_view text) {
  const auto is_of_it = [](char each) { return each == '%' || is_of_name(each); };
  return std::ranges::all_of(text, is_of_it) && has_whole_escapes(text);
}

/// Text for square brackets: an IPv6 address, or "v1." and an address of a later version of IP.
bool is_ip_literal(std::string_view text) {
  if (!text.starts_with('v') && !text.starts_with('V')) {
    in6_addr address{};
    return ::inet_pton(AF_INET6, std::string(text).c_str(), &address) == 1;
  }
  const std::size_t dot = std::min(text.find('.'), text.size());
  const auto is_of_address = [](char each) { return each == ':' || is_of_name(each); };
  return dot >= 2 && std::ranges::all_of(text.substr(1, dot - 1), is_hex_digit) &&
         text.size() > dot + 1 && std::ranges::all_of(text.substr(dot + 1), is_of_address);
}

/// Whether this is a valid "Host": empty, or a name or address, with or without a port (RFC 3986,
/// 3.2.2). A port alone is not (RFC 9110, 4.2.1).
bool is_host(std::string_view text) {
  std::size_t host_bytes = std::min(text.find(':'), text.size());
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos || !is_ip_literal(text.substr(1, end - 1))) return false;
    host_bytes = end + 1;
    if (host_bytes < text.size() && text[host_bytes] != ':') return false;
  } else if (text.starts_with(':') || !is_registered_name(text.substr(0, host_bytes))) {
    return false;
  }
  const std::string_view port = text.substr(host_bytes);
  return port.empty() || std::ranges::all_of(port.substr(1), is_digit);
}

std::string_view text_of(unsigned status) {
  for (const Status& each : kStatuses) {
    if (each.code == status) return each.text;
  }
  return "";
}

/// Whether a line ends with LF alone. Servers may accept that (RFC 9112, 2.2), but this one does
/// not: if servers in a chain disagree, requests can be smuggled past one of them. `in` begins with
/// a line of the header, whose last line is empty.
bool has_bare_lf(std::string_view in) {
  const std::size_t end = in.starts_with("\r\n") ? 0 : in.find("\r\n\r\n");
  const std::string_view header = in.substr(0, end);
  for (std::size_t at = 0; (at = header.find('\n', at)) != std::string_view::npos; ++at) {
    if (at == 0 || header[at - 1] != '\r') return true;
  }
  return false;
}

/// The digit of a minor version from 1.2 on: such requests are answered as 1.1 (RFC 9110, 2.5).
char* newer_minor_version(std::string& request) {
  constexpr std::string_view kVersion = " HTTP/1.";
  const std::size_t end = request.find("\r\n");
  if (end == std::string::npos || end < kVersion.size() + 1) return nullptr;
  const std::size_t at = end - 1 - kVersion.size();
  const bool is_newer = request.compare(at, kVersion.size(), kVersion) == 0 &&
                        request[end - 1] >= '2' && request[end - 1] <= '9';
  return is_newer ? &request[end - 1] : nullptr;
}

/// The current date in HTTP's format; each thread formats it once a second.
std::string_view date() {
  struct Written {
    std::time_t at = -1;
    char text[32];
  };
  thread_local Written last;
  const std::time_t now = std::time(nullptr);
  if (std::exchange(last.at, now) != now) {
    std::tm utc{};
    gmtime_r(&now, &utc);
    // The names are English, since no locale is set.
    static_cast<void>(std::strftime(last.text, sizeof(last.text), "%a, %d %b %Y %T GMT", &utc));
  }
  return last.text;
}

}  // namespace

/// The facts kept about a request: nothing that grows with it.
class HttpSession::Request final : public http::basic_parser<true> {
 public:
  explicit Request(const HttpLimits& limits) {
    header_limit(limits.header_bytes);
    body_limit(limits.body_bytes);
    eager(true);
  }

  /// The HTTP status for an error of put().
  [[nodiscard]] unsigned status_of(const boost::system::error_code& error) const {
    if (refused_with_ != 0) return refused_with_;
    if (error == http::error::header_limit) return 431;
    if (error == http::error::body_limit) return 413;
    if (error == http::error::bad_version) return 505;
    return 400;
  }

  [[nodiscard]] http::verb method() const { return method_; }
  /// 10 or 11; 0 if it could not be parsed.
  [[nodiscard]] int version() const { return version_; }
  enum class Target : std::uint8_t { root, server, nothing };
  [[nodiscard]] Target target() const { return target_; }
  [[nodiscard]] std::uint64_t body_bytes() const { return body_bytes_; }
  /// True once, if the client waits for a response before it sends the body.
  [[nodiscard]] bool take_expectation() { return std::exchange(expects_continue_, false); }

 private:
  using Error = boost::system::error_code;
  using Text = boost::beast::string_view;

  /// The four forms of RFC 9112, 3.2. nullopt: none of them. A query is ignored here.
  static std::optional<Target> target_of(std::string_view target, http::verb method) {
    if (method == http::verb::connect) {  // not supported
      return is_host(target) && !target.empty() ? std::optional(Target::nothing) : std::nullopt;
    }
    if (target == "*") {
      return method == http::verb::options ? std::optional(Target::server) : std::nullopt;
    }
    if (!target.starts_with('/')) {
      const std::size_t scheme_bytes = target.find("://");
      if (scheme_bytes == std::string_view::npos) return std::nullopt;
      const std::string_view scheme = target.substr(0, scheme_bytes);
      if (!boost::beast::iequals({scheme.data(), scheme.size()}, "http")) return std::nullopt;
      target.remove_prefix(scheme_bytes + 3);
      const std::string_view host = target.substr(0, target.find_first_of("/?"));
      if (host.empty() || !is_host(host)) return std::nullopt;
      target.remove_prefix(host.size());
      // OPTIONS for the whole server, as a proxy forwards it.
      if (target.empty() && method == http::verb::options) return Target::server;
    }
    const std::string_view path = target.substr(0, target.find('?'));
    if (target.find('#') != std::string_view::npos || !has_whole_escapes(target)) {
      return std::nullopt;
    }
    return path.empty() || path == "/" ? Target::root : Target::nothing;
  }

  void refuse_with(unsigned status, Error& error) {
    refused_with_ = status;
    error = http::error::bad_value;
  }

  void on_request_impl(http::verb method, Text, Text target, int version, Error& error) override {
    method_ = method;
    version_ = version;
    const std::optional<Target> known = target_of({target.data(), target.size()}, method);
    if (!known) return refuse_with(400, error);
    target_ = *known;
  }
  void on_response_impl(int, Text, int, Error&) override {}
  void on_field_impl(http::field name, Text, Text value, Error& error) override {
    if (is_header_done()) return;  // trailers are ignored
    if (name == http::field::host) {
      if (std::exchange(has_host_, true) || !is_host({value.data(), value.size()})) {
        refuse_with(400, error);
      }
    } else if (name == http::field::transfer_encoding) {
      // Another encoding would hide where the body ends.
      if (!boost::beast::iequals(value, "chunked")) refuse_with(501, error);
    } else if (name == http::field::expect) {
      if (!boost::beast::iequals(value, "100-continue")) return refuse_with(417, error);
      expects_continue_ = version_ >= 11;  // 1.0 has no such answer (RFC 9110, 10.1.1)
    }
  }
  void on_header_impl(Error& error) override {
    if (version_ >= 11 ? !has_host_ : chunked()) refuse_with(400, error);
  }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, Error&) override {}
  std::size_t on_body_impl(Text body, Error&) override {
    body_bytes_ += body.size();
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t, Text extensions, Error& error) override {
    // The parser permits LF in quotes, where another server may see the end of the line.
    if (extensions.find('\n') != Text::npos) refuse_with(400, error);
  }
  std::size_t on_chunk_body_impl(std::uint64_t, Text body, Error&) override {
    body_bytes_ += body.size();
    return body.size();
  }
  void on_finish_impl(Error&) override {}

  http::verb method_ = http::verb::unknown;
  int version_ = 0;
  Target target_ = Target::nothing;
  bool has_host_ = false;
  bool expects_continue_ = false;
  unsigned refused_with_ = 0;
  std::uint64_t body_bytes_ = 0;
};

struct HttpSession::Parser {
  std::optional<Request> request;
};

HttpSession::HttpSession(const HttpLimits& limits)
    : limits_(limits), parser_(std::make_unique<Parser>()) {}

HttpSession::~HttpSession() = default;

bool HttpSession::is_between_requests() const { return !parser_->request; }

std::size_t HttpSession::receive(std::string_view in, std::string& out) {
  std::size_t taken = 0;
  while (!is_over_ && taken < in.size()) {
    const std::size_t some = receive_some(in.substr(taken), out);
    taken += some;
    if (some == 0) break;
  }
  return taken;
}

std::size_t HttpSession::receive_some(std::string_view in, std::string& out) {
  std::optional<Request>& request = parser_->request;
  if (!request) {
    // An empty line before a request is skipped (RFC 9112, 2.2).
    if (in.starts_with("\r\n")) return 2;
    if (in == "\r") return 0;
    request.emplace(limits_);
    header_taken_ = 0;
  } else if (request->is_header_done() && request->chunked() && in.size() < kLastChunk.size()) {
    return 0;  // more must follow, and the parser needs this many bytes
  }
  if (!request->is_header_done() && has_bare_lf(in)) {
    refuse(400, out);
    return 0;
  }
  boost::system::error_code error;
  std::size_t taken = request->put(boost::asio::const_buffer(in.data(), in.size()), error);
  if (error == http::error::bad_version) {
    std::string as_1_1(in);
    if (char* const minor = newer_minor_version(as_1_1)) {
      *minor = '1';
      request.emplace(limits_);
      taken = request->put(boost::asio::const_buffer(as_1_1.data(), as_1_1.size()), error);
    }
  }
  if (error && error != http::error::need_more) {
    refuse(request->status_of(error), out);
  } else if (request->is_done()) {
    answer(out);
    request.reset();
  } else if (!request->is_header_done()) {
    header_taken_ += taken;
    // The parser's own limit applies only to the bytes of one call.
    if (header_taken_ + in.size() - taken >= limits_.header_bytes) refuse(431, out);
  } else if (taken == 0 && in.size() >= limits_.header_bytes) {
    refuse(431, out);  // the header of a chunk, or the text after the last chunk
  } else if (request->take_expectation() && request->body_bytes() == 0) {
    out += "HTTP/1.1 100 Continue\r\n\r\n";
  }
  return taken;
}

void HttpSession::answer(std::string& out) {
  const Request& request = *parser_->request;
  ++answered_;
  is_over_ = !request.keep_alive();
  if (request.method() == http::verb::connect) return respond(405, "", out);
  if (request.target() == Request::Target::nothing) {
    return respond(404, "There is nothing here.\n", out);
  }
  switch (request.method()) {
    case http::verb::options:
      return respond(200, "", out);
    case http::verb::get:
    case http::verb::head:
      return respond(200, kGreeting, out);
    case http::verb::post:
      return respond(200, fmt::format("{} bytes\n", request.body_bytes()), out);
    case http::verb::unknown:
      return respond(501, "", out);
    default:
      return respond(405, "", out);
  }
}

void HttpSession::end_busy(std::string& out) {
  if (!parser_->request) parser_->request.emplace(limits_);
  refuse(503, out);
}

void HttpSession::refuse(unsigned status, std::string& out) {
  is_over_ = true;
  respond(status, fmt::format("{}\n", text_of(status)), out);
}

void HttpSession::respond(unsigned status, std::string_view text, std::string& out) {
  const Request& request = *parser_->request;
  const auto end = std::back_inserter(out);
  fmt::format_to(end,
                 "HTTP/1.1 {} {}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nDate: {}\r\n",
                 status, text_of(status), text.size(), date());
  if (status == 405 || (status == 200 && request.method() == http::verb::options)) {
    out += "Allow: GET, HEAD, OPTIONS, POST\r\n";
  }
  if (is_over_) {
    out += "Connection: close\r\n";
  } else if (request.version() == 10) {
    out += "Connection: keep-alive\r\n";
  }
  out += "\r\n";
  if (request.method() != http::verb::head) out += text;
}

Greeting greeting() {
  HttpSession session({});
  Greeting result;
  static_cast<void>(session.receive(kGreetMe, result.text));
  constexpr std::string_view kDate = "Date: ";
  result.date_at = result.text.find(kDate) + kDate.size();
  result.date_bytes = result.text.find("\r\n", result.date_at) - result.date_at;
  return result;
}

}  // namespace taskbench::workloads::net
