#include "workloads/net/http_server.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace taskbench::workloads::net {
namespace {

constexpr std::size_t kFirstBuffer_bytes = 1'024;
/// So much is read of what a client sends on after it was refused, so that it hears of it: closing
/// at once would reset the connection.
constexpr std::size_t kUnheard_bytes = 256 * 1'024;

}  // namespace

HttpServer::HttpServer(rt::Runtime& runtime, const HttpServerLimits& limits)
    : limits_(limits),
      patience_(runtime, limits.patience),
      server_(runtime, [this](rt::net::TcpStream stream) { return serve(std::move(stream)); }) {}

rt::Task<> HttpServer::serve(rt::net::TcpStream stream) {
  Patience::Wait wait(patience_, stream);
  HttpSession session(limits_.request);
  std::vector<char> in(kFirstBuffer_bytes);
  std::size_t unread = 0;
  std::string out;
  bool is_waiting = false;  // for the rest of a request
  while (!session.is_over()) {
    const std::size_t size = co_await stream.read(in.data() + unread, in.size() - unread);
    if (size == 0) co_return;
    unread += size;
    const std::uint64_t before = session.answered();
    const std::size_t taken = session.receive({in.data(), unread}, out);
    unread -= taken;
    if (taken > 0) std::memmove(in.data(), in.data() + taken, unread);
    if (unread == in.size())
      in.resize(std::min<std::size_t>(2 * unread, limits_.request.header_bytes));
    if (!out.empty()) {
      // relaxed: whoever compares it has heard the answers.
      answered_.fetch_add(session.answered() - before, std::memory_order_relaxed);
      wait.begin();
      co_await stream.write_all(out.data(), out.size());
      out.clear();
      is_waiting = false;
    }
    const bool was_waiting =
        std::exchange(is_waiting, unread > 0 || !session.is_between_requests());
    if (!is_waiting) {
      wait.end();
    } else if (!was_waiting) {
      wait.begin();
    }
  }
  stream.shutdown_write();
  wait.begin();
  std::size_t unheard = 0;
  while (unheard < kUnheard_bytes) {
    const std::size_t size = co_await stream.read(in.data(), in.size());
    if (size == 0) co_return;
    unheard += size;
  }
}

}  // namespace taskbench::workloads::net
