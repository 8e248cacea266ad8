#include "workloads/net/http_server.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "runtime/time/sleep.hpp"

namespace taskbench::workloads::net {
namespace {

/// The watch looks that often while a client's patience lasts.
constexpr std::uint64_t kLooks = 8;
constexpr std::uint64_t kNoLimit = UINT64_MAX;
constexpr std::size_t kFirstBuffer_bytes = 1'024;
/// So much is read of what a client sends on after it was refused, so that it hears of it: closing
/// at once would reset the connection.
constexpr std::size_t kUnheard_bytes = 256 * 1'024;

}  // namespace

/// What the watch sees of a connection.
class HttpServer::Connection {
 public:
  Connection(HttpServer& server, rt::net::TcpStream& stream) : server_(server), stream_(stream) {
    const std::lock_guard lock(server_.mutex_);
    server_.connections_.insert(this);
  }
  ~Connection() {
    const std::lock_guard lock(server_.mutex_);
    server_.connections_.erase(this);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // relaxed, as all of this: a count that is read some time.
  void begin_to_wait() {
    const std::uint64_t now = server_.looks_.load(std::memory_order_relaxed);
    cut_off_at_.store(now + kLooks + 1, std::memory_order_relaxed);
  }
  void wait_for_any_time() { cut_off_at_.store(kNoLimit, std::memory_order_relaxed); }

  /// With the server's mutex held, so that the stream is there.
  [[nodiscard]] bool cut_off_if_late(std::uint64_t look) {
    if (look < cut_off_at_.load(std::memory_order_relaxed)) return false;
    wait_for_any_time();
    stream_.shutdown();
    return true;
  }

 private:
  HttpServer& server_;
  rt::net::TcpStream& stream_;
  std::atomic<std::uint64_t> cut_off_at_{kNoLimit};
};

HttpServer::HttpServer(rt::Runtime& runtime, const HttpServerLimits& limits)
    : runtime_(runtime), limits_(limits) {
  server_.emplace(runtime, [this](rt::net::TcpStream stream) { return serve(std::move(stream)); });
  watch_.emplace(runtime.spawn(watch()));
}

HttpServer::~HttpServer() {
  server_.reset();
  runtime_.block_on(stop_watching());
}

rt::Task<> HttpServer::serve(rt::net::TcpStream stream) {
  Connection connection(*this, stream);
  HttpSession session(limits_.request);
  std::vector<char> in(kFirstBuffer_bytes);
  std::size_t unread = 0;
  std::string out;
  bool is_waiting = false;  // for the rest of a request
  while (!session.is_over()) {
    const std::size_t size =
        co_await stream.read(rt::net::MutableBytes(in.data() + unread, in.size() - unread));
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
      connection.begin_to_wait();
      co_await stream.write_all(out);
      out.clear();
      is_waiting = false;
    }
    const bool was_waiting =
        std::exchange(is_waiting, unread > 0 || !session.is_between_requests());
    if (!is_waiting) {
      connection.wait_for_any_time();
    } else if (!was_waiting) {
      connection.begin_to_wait();
    }
  }
  stream.shutdown_write();
  connection.begin_to_wait();
  std::size_t unheard = 0;
  while (unheard < kUnheard_bytes) {
    const std::size_t size = co_await stream.read(in);
    if (size == 0) co_return;
    unheard += size;
  }
}

rt::Task<> HttpServer::watch() {
  using std::chrono_literals::operator""ms;
  const auto pause = std::max<std::chrono::milliseconds>(limits_.patience / kLooks, 1ms);
  for (;;) {
    co_await rt::time::sleep(pause);
    const std::uint64_t look = looks_.fetch_add(1, std::memory_order_relaxed) + 1;
    const std::lock_guard lock(mutex_);
    for (Connection* const each : connections_) {
      if (each->cut_off_if_late(look)) cut_off_.fetch_add(1, std::memory_order_relaxed);
    }
  }
}

rt::Task<> HttpServer::stop_watching() {
  watch_->abort();
  try {
    co_await *watch_;
  } catch (const rt::JoinError&) {
    // It was cancelled: it never ends by itself.
  }
}

}  // namespace taskbench::workloads::net
