// One end of an HTTP/2 connection, without its socket: takes received bytes and returns bytes to
// send. nghttp2 handles frames, their order and flow control; derived classes handle the content of
// streams.
//
// A peer that sends fruitless frames at an excessive rate is told to keep calm (ENHANCE_YOUR_CALM),
// and the connection ends: streams that are opened and reset at once, headers without an end, empty
// DATA, PING, SETTINGS. GOAWAY is always the last frame of a connection.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "workloads/net/http2_header_trimmer.hpp"

namespace taskbench::workloads::net {

/// Limits for the peer.
struct Http2Limits {
  std::uint32_t streams = 100;  ///< at a time
  std::uint32_t header_bytes =
      8'192;  ///< of a stream; each header counts 32 more (RFC 9113, 6.5.2)
  /// Limits for fruitless frames, which are all but DATA with content (a short frame of DATA with
  /// padding counts as empty): this many at once, and this many more each second. A stream that
  /// succeeds compensates for some of them, and so does DATA that is sent; a stream that is reset
  /// after as long as a call may take compensates for its own.
  std::uint32_t fruitless_burst = 10'000;
  std::uint32_t fruitless_per_s = 1'000;
};

class Http2Session {
 public:
  enum class Role : std::uint8_t { server, client };
  using Clock = std::chrono::steady_clock;

  Http2Session(const Http2Session&) = delete;
  Http2Session& operator=(const Http2Session&) = delete;
  virtual ~Http2Session();

  /// Takes received bytes. `now` is for tests.
  void receive(std::string_view in, Clock::time_point now = Clock::now());
  /// Appends bytes to send to `out`, until that has about `most` bytes.
  void send(std::string& out, std::size_t most = 65'536);
  [[nodiscard]] bool wants_to_send() const;
  /// Whether there is nothing left to receive or send.
  [[nodiscard]] bool is_over() const;

  /// Ends the session once its streams have ended. A server asks its peer to open no more streams,
  /// and serves those opened before the peer learns of that; a client opens none.
  void begin_shutdown();

  /// Ends the session with an HTTP/2 error code, once that is sent. The peer knows that calls it
  /// sends meanwhile are not processed.
  void terminate(std::uint32_t error);

  /// The number of unfinished streams.
  [[nodiscard]] std::size_t stream_count() const { return streams_.size(); }
  /// The oldest stream that waits for the peer to send or receive the rest.
  [[nodiscard]] StreamId oldest_awaited() const;

 protected:
  struct Header {
    std::string_view name;
    std::string_view value;
  };

  struct Stream {
    virtual ~Stream() = default;

    StreamId id = 0;
    Clock::time_point begun_at;        // for those opened by the peer
    bool awaits_peer = false;          // set through set_awaits_peer()
    std::uint32_t header_bytes = 0;    // received
    bool header_is_too_large = false;  // content beyond the limit was dropped
    std::string body;                  // to be sent
    std::size_t sent = 0;
  };

  Http2Session(Role role, const Http2Limits& limits);

  /// Creates a stream opened by the peer.
  [[nodiscard]] virtual std::unique_ptr<Stream> make_stream() = 0;
  virtual void on_header(Stream& stream, const Header& header) = 0;
  /// Called when the headers, or the trailers, are complete.
  virtual void on_headers_end(Stream& stream) = 0;
  virtual void on_data(Stream& stream, std::string_view data) = 0;
  /// Called when the peer has sent everything.
  virtual void on_end(Stream& stream) = 0;
  /// Called when the body was sent. May submit trailers, which then end the stream, and returns
  /// whether it did; otherwise the stream ends now.
  virtual bool on_body_sent(Stream& stream) = 0;
  /// Called when the stream ends, with an HTTP/2 error code.
  virtual void on_close(Stream& stream, std::uint32_t error) = 0;

  /// nullptr: the stream has ended.
  [[nodiscard]] Stream* find(StreamId id) const;
  void set_awaits_peer(Stream& stream, bool awaits);

  /// Functions that submit frames for the next send(). With `has_body`, the stream's `body`
  /// follows.
  void submit_response(Stream& stream, std::span<const Header> headers, bool has_body);
  void submit_trailers(Stream& stream, std::span<const Header> trailers);
  /// Opens a stream as soon as the peer's limit permits it. nullptr: there are no stream numbers
  /// left.
  Stream* submit_request(std::unique_ptr<Stream> stream, std::span<const Header> headers);
  void submit_cancel(StreamId id);

 private:
  struct Native;

  void close(StreamId id, std::uint32_t error);
  void submit_goodbye();
  void make_up_for(double fruitless_frames);

  const Role role_;
  const Http2Limits limits_;
  const std::unique_ptr<Native> native_;
  std::unordered_map<StreamId, std::unique_ptr<Stream>> streams_;
  std::size_t awaited_ = 0;
  Http2HeaderTrimmer trimmer_;
  Clock::time_point now_ = Clock::now();  // time of the last receive()
  double fruitless_frames_ = 0;           // not compensated for yet
  bool is_deaf_ = false;                  // incoming bytes are ignored
  bool is_broken_ = false;                // nothing is sent, either
};

}  // namespace taskbench::workloads::net
