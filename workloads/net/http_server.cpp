#include "workloads/net/http_server.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace taskbench::workloads::net {
namespace {

constexpr std::size_t kFirstBuffer_bytes = 1'024;
/// Memory for a byte of requests including the responses, which have 150 bytes for the 27 of the
/// shortest request.
constexpr std::size_t kWithAnswers = 8;
constexpr std::size_t kHttpConnection_bytes = kWithAnswers * kFirstBuffer_bytes;

}  // namespace

HttpServerLimits HttpServerLimits::of(std::uint64_t connections) {
  return {.server = ServerLimits::of(connections, kHttpConnection_bytes)};
}

HttpServer::HttpServer(rt::Runtime& runtime, const HttpServerLimits& limits)
    : limits_(limits),
      budget_(limits.server.memory_bytes),
      patience_(runtime, limits.server.patience, limits.server.idle),
      server_(
          runtime, [this](rt::net::TcpStream stream) { return serve(std::move(stream)); },
          [this](rt::net::TcpStream stream) { return refuse(std::move(stream)); },
          limits.server.connections) {}

rt::Task<> HttpServer::refuse(rt::net::TcpStream stream) {
  const Budget::Refusal refusal(budget_);
  if (!refusal.is_granted()) co_return;
  Patience::Wait wait(patience_, stream);
  wait.begin();
  HttpSession session(limits_.request);
  std::string out;
  session.end_busy(out);
  co_await stream.write_all(out.data(), out.size());
  co_await linger(stream);
}

rt::Task<> HttpServer::serve(rt::net::TcpStream stream) {
  Budget::Share share(&budget_);
  if (!share.try_take(kHttpConnection_bytes)) co_return co_await refuse(std::move(stream));
  Patience::Wait wait(patience_, stream);
  HttpSession session(limits_.request);
  std::vector<char> in(kFirstBuffer_bytes);
  std::size_t unread = 0;
  std::string out;
  bool is_waiting = false;  // for the rest of a request
  wait.begin_idle();
  while (!session.is_over()) {
    const std::size_t size = co_await stream.read(in.data() + unread, in.size() - unread);
    if (size == 0) co_return;
    unread += size;
    const std::uint64_t before = session.answered();
    const std::size_t taken = session.receive({in.data(), unread}, out);
    unread -= taken;
    if (taken > 0) std::memmove(in.data(), in.data() + taken, unread);
    if (unread == in.size() && !session.is_over()) {
      const std::size_t more = std::min<std::size_t>(unread, limits_.request.header_bytes - unread);
      if (share.try_take(kWithAnswers * more)) {
        in.resize(unread + more);
      } else {
        session.end_busy(out);
      }
    }
    const bool has_answered = !out.empty();
    if (has_answered) {
      // relaxed: a thread that compares it has received the responses.
      answered_.fetch_add(session.answered() - before, std::memory_order_relaxed);
      wait.begin();
      co_await stream.write_all(out.data(), out.size());
      out.clear();
      is_waiting = false;
    }
    const bool was_waiting =
        std::exchange(is_waiting, unread > 0 || !session.is_between_requests());
    if (is_waiting && !was_waiting) wait.begin();
    if (!is_waiting && (was_waiting || has_answered)) wait.begin_idle();
  }
  wait.begin();
  co_await linger(stream);
}

}  // namespace taskbench::workloads::net
