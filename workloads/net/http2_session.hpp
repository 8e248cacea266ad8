// One end of an HTTP/2 connection, without the connection: takes what has come in, and says what
// goes out. nghttp2 knows the frames, their order and the windows of flow control; what a stream
// says is the matter of those who derive from this.
//
// A peer that sends more frames which lead to nothing than it may in that time is asked to keep
// calm (ENHANCE_YOUR_CALM), and the connection ends: streams that are opened and reset at once,
// headers without an end, empty DATA, PING, SETTINGS. Whatever ends a connection, GOAWAY is the
// last word.
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

/// For the peer.
struct Http2Limits {
  std::uint32_t streams = 100;  ///< at a time
  std::uint32_t header_bytes =
      8'192;  ///< of a stream; each header counts 32 more (RFC 9113, 6.5.2)
  /// Fruitless are all but DATA with something in it: so many at once, and so many more in each
  /// second. A stream that ends well makes up for some of them, and so does DATA that is sent; a
  /// stream that is reset after as long as a call may take, for its own.
  std::uint32_t fruitless_burst = 3'000;
  std::uint32_t fruitless_per_s = 1'000;
};

class Http2Session {
 public:
  enum class Role : std::uint8_t { server, client };
  using Clock = std::chrono::steady_clock;

  Http2Session(const Http2Session&) = delete;
  Http2Session& operator=(const Http2Session&) = delete;
  virtual ~Http2Session();

  /// `now` is for tests.
  void receive(std::string_view in, Clock::time_point now = Clock::now());
  /// Appends what is to be sent to `out`, until that has about `most` bytes.
  void send(std::string& out, std::size_t most = 65'536);
  [[nodiscard]] bool wants_to_send() const;
  /// Nothing more is to be received or sent.
  [[nodiscard]] bool is_over() const;

  /// No more streams: a server asks its peer to open none, and serves those that it has opened
  /// before it hears of that; a client opens none. Once the last has ended the session is over.
  void begin_shutdown();

  /// Ends it, with an error code of HTTP/2 for the peer, once that is sent. Calls that the peer
  /// sends meanwhile it knows not to have been taken.
  void terminate(std::uint32_t error);

  /// Streams that have begun and not ended.
  [[nodiscard]] std::size_t stream_count() const { return streams_.size(); }
  /// The oldest stream that the peer has yet to do something for: to send the rest, or to take it.
  [[nodiscard]] StreamId oldest_awaited() const;

 protected:
  struct Header {
    std::string_view name;
    std::string_view value;
  };

  struct Stream {
    virtual ~Stream() = default;

    StreamId id = 0;
    Clock::time_point begun_at;        // of those that the peer opens
    bool awaits_peer = false;          // set through set_awaits_peer()
    std::uint32_t header_bytes = 0;    // received
    bool header_is_too_large = false;  // what was beyond the limit has been left out
    std::string body;                  // to be sent
    std::size_t sent = 0;
  };

  Http2Session(Role role, const Http2Limits& limits);

  /// A stream that the peer opens.
  [[nodiscard]] virtual std::unique_ptr<Stream> make_stream() = 0;
  virtual void on_header(Stream& stream, const Header& header) = 0;
  /// The headers, or the trailers, are complete.
  virtual void on_headers_end(Stream& stream) = 0;
  virtual void on_data(Stream& stream, std::string_view data) = 0;
  /// The peer has sent everything.
  virtual void on_end(Stream& stream) = 0;
  /// The body was sent: trailers that are submitted now end the stream; it ends without if there
  /// are none. Whether there are.
  virtual bool on_body_sent(Stream& stream) = 0;
  /// The stream ends, with an error code of HTTP/2.
  virtual void on_close(Stream& stream, std::uint32_t error) = 0;

  /// nullptr: it has ended.
  [[nodiscard]] Stream* find(StreamId id) const;
  void set_awaits_peer(Stream& stream, bool awaits);

  /// What is submitted is sent by the next send(). With its `body`, if `has_body`.
  void submit_response(Stream& stream, std::span<const Header> headers, bool has_body);
  void submit_trailers(Stream& stream, std::span<const Header> trailers);
  /// Opens a stream, once the peer permits that many. nullptr: there are no numbers left.
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
  Clock::time_point now_ = Clock::now();  // when receive() was called last
  double fruitless_frames_ = 0;           // that nothing has made up for yet
  bool is_deaf_ = false;                  // nothing that comes in is understood any more
  bool is_broken_ = false;                // and nothing goes out
};

}  // namespace taskbench::workloads::net
