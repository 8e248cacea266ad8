#include "workloads/net/grpc_client.hpp"

#include <atomic>
#include <optional>
#include <string>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "runtime/net/tcp.hpp"
#include "runtime/sync/oneshot.hpp"
#include "runtime/time/timeout.hpp"
#include "workloads/net/http2_link.hpp"

namespace taskbench::workloads::net {
namespace {

namespace oneshot = rt::sync::oneshot;

GrpcReply failed_call(GrpcStatus status, std::string text) {
  return {status, std::move(text), {}, {}, {}};
}

}  // namespace

/// A message from a call to the connection: to begin, if there is a `reply_to`; otherwise that it
/// was given up. Tag 0: there will be no more calls.
struct GrpcClient::Order {
  explicit Order(GrpcClientSession::Tag of) : tag(of) {}
  Order(GrpcClientSession::Tag of, GrpcRequest what, oneshot::Sender<GrpcReply> to)
      : tag(of), request(std::move(what)), reply_to(std::move(to)) {}

  GrpcClientSession::Tag tag;
  GrpcRequest request;
  std::optional<oneshot::Sender<GrpcReply>> reply_to;
};

/// The task of the connection.
class GrpcClient::Connection final : private Http2Link<Order> {
 public:
  using Http2Link::Notes;

  Connection(rt::net::TcpStream stream, const GrpcLimits& limits)
      : Http2Link(stream_, session_),
        stream_(std::move(stream)),
        session_(stream_.peer_address().text(), limits) {}

  [[nodiscard]] const Notes& orders() const { return notes(); }

  static rt::Task<> live(std::unique_ptr<Connection> connection) {
    try {
      co_await connection->run();
    } catch (const std::system_error&) {
      // The server has gone: calls that wait for replies learn that none will come.
    }
  }

 private:
  struct Pending {
    StreamId stream;
    oneshot::Sender<GrpcReply> reply_to;
  };

  void on_received() override {
    for (auto& [tag, reply] : session_.take_replies()) {
      auto pending = pending_.extract(tag);
      if (pending) (void)pending.mapped().reply_to.send(std::move(reply));
    }
  }

  void on_note(Order& order) override {
    if (order.tag == 0) {
      session_.begin_shutdown();
    } else if (order.reply_to) {
      const auto stream = session_.call(order.request, order.tag);
      if (stream) pending_.emplace(order.tag, Pending{*stream, *std::move(order.reply_to)});
    } else if (auto given_up = pending_.extract(order.tag)) {
      session_.cancel(given_up.mapped().stream);
    }
  }

  bool expects_notes() const override { return pending_.size() > 1; }
  void on_sending(bool) override { on_received(); }  // calls that could not be sent have ended

  rt::net::TcpStream stream_;
  GrpcClientSession session_;
  std::unordered_map<GrpcClientSession::Tag, Pending> pending_;
};

struct GrpcClient::Shared {
  /// Cancels a call that has not ended when its task is destroyed.
  struct Cancel {
    Cancel(Connection::Notes to, GrpcClientSession::Tag call) : orders(std::move(to)), tag(call) {}
    ~Cancel() {
      if (!is_over) (void)orders.send(Order(tag));
    }
    Cancel(const Cancel&) = delete;
    Cancel& operator=(const Cancel&) = delete;

    const Connection::Notes orders;
    const GrpcClientSession::Tag tag;
    bool is_over = false;
  };

  const Connection::Notes orders;
  rt::JoinHandle<void> connection;
  std::atomic<GrpcClientSession::Tag> last_tag{0};
};

GrpcClient::GrpcClient(std::unique_ptr<Shared> shared) noexcept : shared_(std::move(shared)) {}
GrpcClient::GrpcClient(GrpcClient&&) noexcept = default;
GrpcClient::~GrpcClient() {
  if (shared_) shared_->connection.abort();
}

rt::Task<GrpcClient> GrpcClient::connect(rt::net::SocketAddress server, GrpcLimits limits) {
  rt::net::TcpStream stream = co_await rt::net::TcpStream::connect(server);
  stream.set_no_delay(true);
  auto connection = std::make_unique<Connection>(std::move(stream), limits);
  Connection::Notes orders = connection->orders();
  auto task = rt::spawn(Connection::live(std::move(connection)));
  std::unique_ptr<Shared> shared(new Shared{std::move(orders), std::move(task)});
  co_return GrpcClient(std::move(shared));
}

rt::Task<GrpcReply> GrpcClient::call(GrpcRequest request) {
  // relaxed: tags only have to be unique.
  const auto tag = shared_->last_tag.fetch_add(1, std::memory_order_relaxed) + 1;
  const auto deadline = request.deadline;
  auto channel = oneshot::channel<GrpcReply>();
  Shared::Cancel cancel(shared_->orders, tag);
  (void)shared_->orders.send(Order(tag, std::move(request), std::move(channel.first)));
  std::optional<GrpcReply> reply;
  if (deadline) {
    const auto left = *deadline - GrpcClock::now();
    auto in_time = co_await rt::time::timeout(left, std::move(channel.second));
    if (!in_time) {
      co_return failed_call(GrpcStatus::deadline_exceeded, "the deadline has passed");
    }
    reply = *std::move(in_time);
  } else {
    reply = co_await std::move(channel.second);
  }
  cancel.is_over = true;
  if (!reply) co_return failed_call(GrpcStatus::unavailable, "the connection has ended");
  co_return *std::move(reply);
}

rt::Task<> GrpcClient::close() {
  (void)shared_->orders.send(Order(0));
  co_await shared_->connection;
}

}  // namespace taskbench::workloads::net
