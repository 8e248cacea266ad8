// The two ends of a gRPC connection, without its socket: they turn the events of Http2Session into
// calls and replies, and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workloads/net/budget.hpp"
#include "workloads/net/grpc.hpp"
#include "workloads/net/http2_session.hpp"

namespace taskbench::workloads::net {

struct GrpcLimits {
  Http2Limits http2;
  std::size_t message_bytes = 4 * 1'024 * 1'024;  ///< limit for messages from the peer
  /// All messages of a connection together, in both directions, until their calls have ended.
  std::size_t held_bytes = 16 * 1'024 * 1'024;
};

/// The server's end. Invalid calls are answered with gRPC's status for the error before they are
/// reported to anyone.
class GrpcServerSession final : public Http2Session {
 public:
  struct Call {
    StreamId stream;
    GrpcRequest request;
  };

  /// `budget` is shared by all sessions of a server; nullptr: there is none.
  explicit GrpcServerSession(const GrpcLimits& limits, Budget* budget = nullptr);

  /// Calls that have arrived completely since the last call of this function.
  [[nodiscard]] std::vector<Call> take_calls() { return std::exchange(calls_, {}); }
  /// Calls already taken whose callers have given up since the last call of this function.
  [[nodiscard]] std::vector<StreamId> take_given_up() { return std::exchange(given_up_, {}); }
  /// Answers a call. Does nothing if the caller has given up.
  void answer(StreamId id, const GrpcReply& reply);

 private:
  struct Incoming;

  std::unique_ptr<Stream> make_stream() override;
  void on_header(Stream& stream, const Header& header) override;
  void on_headers_end(Stream& stream) override;
  void on_data(Stream& stream, std::string_view data) override;
  void on_end(Stream& stream) override;
  bool on_body_sent(Stream& stream) override;
  void on_close(Stream& stream, std::uint32_t error) override;

  [[nodiscard]] bool try_take(Incoming& call, std::size_t bytes);
  /// Frees what has arrived of a call that is refused: its caller may leave the answer untaken.
  void forget(Incoming& call);
  void refuse(Incoming& call, const GrpcFault& fault);
  void refuse_http(Incoming& call, std::string_view status);
  void respond(Incoming& call, const GrpcReply& reply);

  const GrpcLimits limits_;
  Budget::Share share_;
  std::size_t held_bytes_ = 0;
  std::vector<Call> calls_;
  std::vector<StreamId> given_up_;
};

class GrpcClientSession final : public Http2Session {
 public:
  /// The caller's own name for a call.
  using Tag = std::uint64_t;
  struct Answered {
    Tag tag;
    GrpcReply reply;
  };

  /// `authority` is the server's host and port.
  GrpcClientSession(std::string authority, const GrpcLimits& limits);

  /// Begins a call. nullopt: this connection has no stream numbers left.
  [[nodiscard]] std::optional<StreamId> call(const GrpcRequest& request, Tag tag);
  /// Cancels a call, which then gets no reply. Does nothing if the reply has arrived.
  void cancel(StreamId id);
  /// The replies to calls that have ended since the last call of this function.
  [[nodiscard]] std::vector<Answered> take_replies() { return std::exchange(replies_, {}); }

 private:
  struct Outgoing;

  std::unique_ptr<Stream> make_stream() override;
  void on_header(Stream& stream, const Header& header) override;
  void on_headers_end(Stream& stream) override;
  void on_data(Stream& stream, std::string_view data) override;
  void on_end(Stream& stream) override;
  bool on_body_sent(Stream& stream) override;
  void on_close(Stream& stream, std::uint32_t error) override;

  void give_up(Outgoing& call, const GrpcFault& fault);

  const std::string authority_;
  const std::size_t message_bytes_;
  std::vector<Answered> replies_;
};

}  // namespace taskbench::workloads::net
