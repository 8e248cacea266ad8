#include "workloads/net/grpc_server.hpp"

#include <exception>
#include <optional>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/time/sleep.hpp"
#include "runtime/time/timeout.hpp"
#include "workloads/net/http2_link.hpp"

namespace taskbench::workloads::net {
namespace {

/// Read of what a client sends on after the last word: closing at once would reset the connection,
/// and it would not hear that.
constexpr std::size_t kUnheardOfClient_bytes = 256 * 1'024;
constexpr std::size_t kUnheardAtOnce_bytes = 4'096;

GrpcReply reply_of(GrpcStatus status, std::string text) {
  return {status, std::move(text), {}, {}, {}};
}

rt::Task<GrpcReply> reply_to(const GrpcMethods& methods, GrpcRequest request) {
  const auto method = methods.find(request.path);
  if (method == methods.end()) {
    co_return reply_of(GrpcStatus::unimplemented, "there is no method " + request.path);
  }
  if (!request.deadline) co_return co_await method->second(std::move(request));
  const auto left = *request.deadline - GrpcClock::now();
  if (left.count() > 0) {
    auto reply = co_await rt::time::timeout(left, method->second(std::move(request)));
    if (reply) co_return *std::move(reply);
  }
  co_return reply_of(GrpcStatus::deadline_exceeded, "the deadline has passed");
}

}  // namespace

/// What a call tells its connection.
struct GrpcServer::Answer {
  Answer(StreamId to, GrpcReply with) : stream(to), reply(std::move(with)) {}

  StreamId stream;  ///< 0: the connection is to end
  GrpcReply reply;
};

class GrpcServer::Connection final : private Http2Link<Answer> {
 public:
  Connection(GrpcServer& server, rt::net::TcpStream& stream)
      : Http2Link(stream, session_),
        server_(server),
        stream_(stream),
        session_(server.limits_.session),
        request_(server.patience_, stream),
        writing_(server.patience_, stream) {
    const std::lock_guard lock(server_.mutex_);
    server_.connections_.insert(this);
    if (server_.is_draining_) begin_shutdown();
  }
  ~Connection() {
    abort_all();
    const std::lock_guard lock(server_.mutex_);
    server_.connections_.erase(this);
    server_.one_has_gone_.notify_one();
  }

  rt::Task<> serve() {
    try {
      co_await run();
      if (session_.is_over()) co_await hear_out();
    } catch (const std::system_error&) {
      // The client has gone.
    }
    abort_all();
    for (auto& [stream, task] : running_) {
      try {
        co_await task;
      } catch (const rt::JoinError&) {
        // It was aborted.
      }
    }
  }

  /// From any thread, with the server's mutex held.
  void begin_shutdown() { (void)notes().send(Answer(0, {})); }

 private:
  /// The task of a call. It shares nothing with the connection, which may go first.
  static rt::Task<> run_call(std::shared_ptr<const GrpcMethods> methods,
                             GrpcServerSession::Call call, Notes answers) {
    GrpcReply reply;
    try {
      reply = co_await reply_to(*methods, std::move(call.request));
    } catch (const rt::JoinError&) {
      reply = reply_of(GrpcStatus::cancelled, "the server gave the call up");
    } catch (const std::exception& error) {
      reply = reply_of(GrpcStatus::unknown, error.what());
    }
    (void)answers.send(Answer(call.stream, std::move(reply)));
  }

  void on_received() override {
    for (const StreamId stream : session_.take_given_up()) give_up(stream);
    for (GrpcServerSession::Call& call : session_.take_calls()) {
      const StreamId stream = call.stream;
      auto task = rt::spawn(run_call(server_.methods_, std::move(call), notes()));
      running_.insert_or_assign(stream, std::move(task));
    }
    look_who_waits();
  }

  void give_up(StreamId stream) {
    const auto task = running_.find(stream);
    if (task == running_.end()) return;
    task->second.abort();
    running_.erase(task);
  }

  void abort_all() {
    for (const auto& [stream, task] : running_) task.abort();
  }

  void on_note(Answer& answer) override {
    if (answer.stream == 0) {
      session_.begin_shutdown();
    } else if (running_.erase(answer.stream) != 0) {
      // relaxed: whoever compares it has heard the reply.
      server_.answered_.fetch_add(1, std::memory_order_relaxed);
      session_.answer(answer.stream, answer.reply);
    }
  }

  /// Those that are about to be answered come along: one write for all.
  bool expects_notes() const override { return running_.size() > 1; }

  void on_sending(bool writes) override {
    look_who_waits();
    if (writes) {
      writing_.begin();
    } else {
      writing_.end();
    }
  }

  /// The client has its time for each request and each reply, one after the other.
  void look_who_waits() {
    const StreamId oldest = session_.oldest_awaited();
    if (oldest == std::exchange(oldest_awaited_, oldest)) return;
    if (oldest == 0) {
      request_.end();
    } else {
      request_.begin();
    }
  }

  rt::Task<> hear_out() {
    stream_.shutdown_write();
    writing_.begin();
    std::vector<char> in(kUnheardAtOnce_bytes);
    std::size_t unheard = 0;
    while (unheard < kUnheardOfClient_bytes) {
      const std::size_t size = co_await stream_.read(in);
      if (size == 0) co_return;
      unheard += size;
    }
  }

  GrpcServer& server_;
  rt::net::TcpStream& stream_;
  GrpcServerSession session_;
  std::unordered_map<StreamId, rt::JoinHandle<void>> running_;
  StreamId oldest_awaited_ = 0;
  Patience::Wait request_;
  Patience::Wait writing_;
};

GrpcServer::GrpcServer(rt::Runtime& runtime, GrpcMethods methods, const GrpcServerLimits& limits)
    : runtime_(runtime),
      methods_(std::make_shared<const GrpcMethods>(std::move(methods))),
      limits_(limits),
      patience_(runtime, limits.patience),
      server_(runtime, [this](rt::net::TcpStream stream) { return serve(std::move(stream)); }) {}

GrpcServer::~GrpcServer() { runtime_.block_on(drain()); }

rt::Task<> GrpcServer::serve(rt::net::TcpStream stream) {
  Connection connection(*this, stream);
  co_await connection.serve();
}

rt::Task<> GrpcServer::drain() {
  {
    const std::lock_guard lock(mutex_);
    is_draining_ = true;
    for (Connection* const each : connections_) each->begin_shutdown();
  }
  // Those that stay longer are cut off.
  co_await rt::select(wait_until_all_have_gone(), rt::time::sleep(limits_.patience));
}

rt::Task<> GrpcServer::wait_until_all_have_gone() {
  for (;;) {
    auto gone = one_has_gone_.notified();
    {
      const std::lock_guard lock(mutex_);
      if (connections_.empty()) co_return;
    }
    co_await gone;
  }
}

}  // namespace taskbench::workloads::net
