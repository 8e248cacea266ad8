// Gets a page by HTTP/1.1, within a time: http_client URL [SECONDS], by default 10.
//
//   http_client http://127.0.0.1:8000/index.html 2
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include <taskbench/runtime/net/resolve.hpp>
#include <taskbench/runtime/net/tcp.hpp>
#include <taskbench/runtime/runtime.hpp>
#include <taskbench/runtime/time/timeout.hpp>

namespace rt = taskbench::rt;
namespace net = rt::net;

namespace {

/// http://HOST[:PORT][/PATH][?QUERY][#FRAGMENT]; an IPv6 address in brackets.
struct Url {
  explicit Url(std::string_view text) {
    constexpr std::string_view kScheme = "http://";
    if (!text.starts_with(kScheme)) throw std::invalid_argument("a URL begins with http://");
    text.remove_prefix(kScheme.size());
    text = text.substr(0, text.find('#'));  // servers are not sent the fragment
    const std::size_t end = std::min(text.find_first_of("/?"), text.size());
    authority = text.substr(0, end);
    path = text.substr(end);
    if (!path.starts_with('/')) path.insert(path.begin(), '/');
    const std::size_t bracket = authority.find(']');
    const std::size_t colon = authority.find(':', bracket == std::string::npos ? 0 : bracket);
    host = authority.substr(0, colon);
    if (bracket != std::string::npos) host = host.substr(1, bracket - 1);
    if (colon != std::string::npos) port = authority.substr(colon + 1);
  }

  std::string authority;
  std::string host;
  std::string port = "80";
  std::string path;  // and the query
};

struct Response {
  std::string head;
  std::string body;
};

/// The body without the sizes that stand before its chunks.
std::string joined_chunks(std::string_view body) {
  std::string joined;
  for (;;) {
    std::size_t size = 0;
    const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), size, 16);
    const std::size_t line = body.find("\r\n");
    if (error != std::errc{} || line == std::string_view::npos || body.size() - line - 2 < size) {
      throw std::runtime_error("the server's answer was cut");
    }
    if (size == 0) return joined;
    joined += body.substr(line + 2, size);
    body.remove_prefix(std::min(line + 2 + size + 2, body.size()));
  }
}

/// Connects to the first of the host's addresses that answers.
rt::Task<net::TcpStream> connect(const Url& url) {
  const auto addresses = co_await net::resolve(url.host, url.port);
  for (std::size_t i = 0;; ++i) {
    try {
      co_return co_await net::TcpStream::connect(addresses[i]);
    } catch (const std::system_error&) {
      if (i + 1 == addresses.size()) throw;
    }
  }
}

rt::Task<std::string> get(const Url& url) {
  auto stream = co_await connect(url);
  const std::string request =
      "GET " + url.path + " HTTP/1.1\r\nHost: " + url.authority + "\r\nConnection: close\r\n\r\n";
  co_await stream.write_all(request);
  std::string answer;
  std::string buffer(16'384, '\0');
  for (;;) {
    const std::size_t size = co_await stream.read(buffer);
    if (size == 0) break;
    answer.append(buffer, 0, size);
  }
  co_return answer;
}

/// The number that stands after a name, if it is there.
std::optional<std::size_t> number_after(std::string_view name, std::string_view head) {
  const std::size_t at = head.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view text = head.substr(at + name.size());
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} ? std::optional(number) : std::nullopt;
}

Response response_in(std::string_view answer) {
  std::string_view head;
  do {
    const std::size_t end = answer.find("\r\n\r\n");
    if (end == std::string_view::npos) throw std::runtime_error("the server's answer was cut");
    head = answer.substr(0, end);
    answer.remove_prefix(end + 4);
  } while (head.starts_with("HTTP/1.1 1"));  // such answers precede the final one
  Response response{std::string(head), std::string(answer)};
  // Compared with the usual spelling; a client for all servers would ignore case.
  if (response.head.find("\r\nTransfer-Encoding: chunked") != std::string::npos) {
    response.body = joined_chunks(response.body);
  } else if (response.body.size() < number_after("\r\nContent-Length: ", response.head)) {
    throw std::runtime_error("the server's answer was cut");
  }
  return response;
}

std::chrono::seconds seconds_in(std::string_view text) {
  unsigned seconds = 0;
  const char* const text_end = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), text_end, seconds);
  if (error != std::errc{} || end != text_end) {
    throw std::invalid_argument("SECONDS is a whole number");
  }
  return std::chrono::seconds(seconds);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) throw std::invalid_argument("usage: http_client URL [SECONDS]");
  const Url url(argv[1]);
  const std::chrono::seconds limit = seconds_in(argc > 2 ? argv[2] : "10");
  auto runtime = rt::Runtime::Builder{}.scheduler("current_thread").build();
  const std::optional<std::string> answer = runtime.block_on(rt::time::timeout(limit, get(url)));
  if (!answer) throw std::runtime_error("no answer in time");
  const Response response = response_in(*answer);
  std::fprintf(stderr, "%s\n", response.head.c_str());
  std::fwrite(response.body.data(), 1, response.body.size(), stdout);
} catch (const std::exception& error) {
  std::fprintf(stderr, "http_client: %s\n", error.what());
  return 1;
}
