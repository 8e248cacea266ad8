#include "workloads/net/grpc_server.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "runtime/time/sleep.hpp"
#include "runtime/time/timeout.hpp"
#include "workloads/net/http2_link.hpp"

namespace taskbench::workloads::net {
namespace {

/// Memory for the buffers, the header tables, and the frames of a connection.
constexpr std::size_t kGrpcConnection_bytes = 64 * 1'024;
/// Error codes of HTTP/2 (RFC 9113, 7).
constexpr std::uint32_t kNoError = 0x0;
constexpr std::uint32_t kEnhanceYourCalm = 0xb;

GrpcReply reply_of(GrpcStatus status, std::string text) {
  return {status, std::move(text), {}, {}, {}};
}

rt::Task<GrpcReply> reply_of(const GrpcMethod& method, GrpcRequest request) {
  if (!request.deadline) co_return co_await method(std::move(request));
  const auto left = *request.deadline - GrpcClock::now();
  if (left.count() > 0) {
    auto reply = co_await rt::time::timeout(left, method(std::move(request)));
    if (reply) co_return *std::move(reply);
  }
  co_return reply_of(GrpcStatus::deadline_exceeded, "the deadline has passed");
}

}  // namespace

void say_on_stderr(std::string_view path, const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{} failed: {}\n", path, error.what());
  } catch (...) {
    fmt::print(stderr, "{} failed with what is no std::exception\n", path);
  }
}

/// The state that all calls share.
struct GrpcServer::Service {
  Service(GrpcMethods all, GrpcOnFailure hook)
      : methods(std::move(all)), on_failure(std::move(hook)) {}

  const GrpcMethods methods;
  const GrpcOnFailure on_failure;
};

/// A message from a call, or from the server, to a connection.
struct GrpcServer::Answer {
  Answer(StreamId to, GrpcReply with) : stream(to), reply(std::move(with)) {}

  StreamId stream;
  GrpcReply reply;
};

class GrpcServer::Connection final : private Http2Link<Answer> {
 public:
  Connection(GrpcServer& server, rt::net::TcpStream& stream)
      : Http2Link(stream, session_),
        server_(server),
        stream_(stream),
        session_(server.limits_.session, &server.budget_),
        request_(server.patience_, stream, [this] { tell(kIsSlow); }),
        idle_(server.patience_, stream, [this] { tell(kIsIdle); }),
        writing_(server.patience_, stream) {
    idle_.begin_idle();
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
      abort_all();
      if (session_.is_over()) {
        writing_.begin();
        co_await linger(stream_);
      }
    } catch (const std::system_error&) {
      // The client has gone.
    }
    abort_all();
    for (auto& [stream, task] : running_) {
      try {
        co_await task;
      } catch (const rt::JoinError&) {
        // The call was aborted.
      }
    }
  }

  /// Called from any thread, with the server's mutex held.
  void begin_shutdown() { tell(kIsToEnd); }

 private:
  /// Notes to the connection, in place of the stream of an answer.
  static constexpr StreamId kIsToEnd = 0, kIsSlow = -1, kIsIdle = -2;
  void tell(StreamId what) { (void)notes().send(Answer(what, {})); }

  /// The task of a call. It shares nothing with the connection, which may end first.
  static rt::Task<> run_call(std::shared_ptr<const Service> service, GrpcServerSession::Call call,
                             Notes answers) {
    GrpcReply reply;
    const auto method = service->methods.find(call.request.path);
    if (method == service->methods.end()) {
      reply = reply_of(GrpcStatus::unimplemented, "there is no method " + call.request.path);
    } else {
      try {
        reply = co_await reply_of(method->second, std::move(call.request));
      } catch (const rt::JoinError&) {
        reply = reply_of(GrpcStatus::cancelled, "the server gave the call up");
      } catch (...) {
        service->on_failure(method->first, std::current_exception());
        reply = reply_of(GrpcStatus::unknown, "the method failed");
      }
    }
    (void)answers.send(Answer(call.stream, std::move(reply)));
  }

  void on_received() override {
    for (const StreamId stream : session_.take_given_up()) give_up(stream);
    for (GrpcServerSession::Call& call : session_.take_calls()) {
      const StreamId stream = call.stream;
      auto task = rt::spawn(run_call(server_.service_, std::move(call), notes()));
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
    if (answer.stream == kIsToEnd) {
      session_.begin_shutdown();
    } else if (answer.stream == kIsSlow) {
      session_.terminate(kEnhanceYourCalm);
    } else if (answer.stream == kIsIdle) {
      if (session_.stream_count() == 0) session_.terminate(kNoError);
    } else if (running_.erase(answer.stream) != 0) {
      // relaxed: a thread that compares it has received the reply.
      server_.answered_.fetch_add(1, std::memory_order_relaxed);
      session_.answer(answer.stream, answer.reply);
    }
  }

  /// Whether more calls may be answered soon, so that one write is enough for all.
  bool expects_notes() const override { return running_.size() > 1; }

  void on_sending(bool writes) override {
    look_who_waits();
    if (writes) {
      writing_.begin();
    } else {
      writing_.end();
    }
  }

  /// Starts or stops the client's time limit for each request and each reply, one after the other.
  void look_who_waits() {
    const bool is_idle = session_.stream_count() == 0;
    if (is_idle != std::exchange(is_idle_, is_idle)) {
      if (is_idle) {
        idle_.begin_idle();
      } else {
        idle_.end();
      }
    }
    const StreamId oldest = session_.oldest_awaited();
    if (oldest == std::exchange(oldest_awaited_, oldest)) return;
    if (oldest == 0) {
      request_.end();
    } else {
      request_.begin();
    }
  }

  GrpcServer& server_;
  rt::net::TcpStream& stream_;
  GrpcServerSession session_;
  std::unordered_map<StreamId, rt::JoinHandle<void>> running_;
  StreamId oldest_awaited_ = 0;
  bool is_idle_ = true;
  Patience::Wait request_;
  Patience::Wait idle_;
  Patience::Wait writing_;
};

GrpcServer::GrpcServer(rt::Runtime& runtime, GrpcMethods methods, const GrpcServerLimits& limits)
    : runtime_(runtime),
      limits_(limits),
      budget_(limits.server.memory_bytes),
      service_(std::make_shared<const Service>(std::move(methods), limits.on_failure)),
      patience_(runtime, limits.server.patience, limits.server.idle),
      server_(
          runtime, [this](rt::net::TcpStream stream) { return serve(std::move(stream)); },
          [this](rt::net::TcpStream stream) { return refuse(std::move(stream)); },
          limits.server.connections) {}

GrpcServer::~GrpcServer() { runtime_.block_on(drain()); }

GrpcServerLimits GrpcServerLimits::of(std::uint64_t connections) {
  return {.server = ServerLimits::of(connections, kGrpcConnection_bytes)};
}

/// Refuses a connection: its calls are not processed, and the client knows that it may make them
/// elsewhere.
rt::Task<> GrpcServer::refuse(rt::net::TcpStream stream) {
  const Budget::Refusal refusal(budget_);
  if (!refusal.is_granted()) co_return;
  Patience::Wait wait(patience_, stream);
  wait.begin();
  GrpcServerSession session(limits_.session);
  session.terminate(kNoError);
  std::string out;
  session.send(out);
  co_await stream.write_all(out);
  co_await linger(stream);
}

rt::Task<> GrpcServer::serve(rt::net::TcpStream stream) {
  Budget::Share share(&budget_);
  if (!share.try_take(kGrpcConnection_bytes)) co_return co_await refuse(std::move(stream));
  Connection connection(*this, stream);
  co_await connection.serve();
}

rt::Task<> GrpcServer::drain() {
  {
    const std::lock_guard lock(mutex_);
    is_draining_ = true;
    for (Connection* const each : connections_) each->begin_shutdown();
  }
  // Connections that stay longer are cut off.
  co_await rt::select(wait_until_all_have_gone(), rt::time::sleep(limits_.server.patience));
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
