#include "workloads/net/http2_session.hpp"

#include <nghttp2/nghttp2.h>
#include <sys/types.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

namespace taskbench::workloads::net {
namespace {

constexpr std::uint32_t kHeaderOverhead_bytes = 32;
/// The number of fruitless frames for which a stream or DATA compensates. A peer acknowledges DATA
/// now and then, with two frames.
constexpr double kWorthOfStream = 20;
constexpr double kWorthOfData = 4;
/// A stream that lasted this long cost the peer as much as us, since the number of streams is
/// limited. Its frames: HEADERS, RST_STREAM, and often WINDOW_UPDATE.
constexpr std::chrono::milliseconds kLifeOfCall(5);
constexpr double kFramesOfCall = 3;
/// The PING after the shutdown announcement: when its answer arrives, so has everything that the
/// peer sent before it learned of the shutdown.
constexpr std::array<std::uint8_t, 8> kLastPing{'g', 'o', 'o', 'd', 'b', 'y', 'e', 0};

const std::uint8_t* bytes_of(std::string_view text) {
  return reinterpret_cast<const std::uint8_t*>(text.data());
}
std::string_view text_of(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

bool ends_stream(const nghttp2_frame_hd& frame) {
  return (frame.type == NGHTTP2_HEADERS || frame.type == NGHTTP2_DATA) &&
         (frame.flags & NGHTTP2_FLAG_END_STREAM) != 0;
}

struct FreeOption {
  void operator()(nghttp2_option* option) const { nghttp2_option_del(option); }
};
struct FreeCallbacks {
  void operator()(nghttp2_session_callbacks* each) const { nghttp2_session_callbacks_del(each); }
};

}  // namespace

/// The callbacks of nghttp2, which is C: no exception may pass through it, so the program ends if
/// memory runs out. All memory use has limits.
struct Http2Session::Native {
  ~Native() { nghttp2_session_del(session); }

  static Http2Session& self_of(void* user) { return *static_cast<Http2Session*>(user); }

  static int begin_frame(nghttp2_session*, const nghttp2_frame_hd* frame, void* user) noexcept {
    const bool is_counted_by_trimmer =
        frame->type == NGHTTP2_DATA || frame->type == NGHTTP2_CONTINUATION;
    if (!is_counted_by_trimmer) ++self_of(user).fruitless_frames_;
    return 0;
  }

  static int begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* user) noexcept {
    Http2Session& self = self_of(user);
    const StreamId id = frame->hd.stream_id;
    if (self.role_ == Role::client || self.find(id) != nullptr) return 0;
    Stream& stream = *(self.streams_[id] = self.make_stream());
    stream.id = id;
    stream.begun_at = self.now_;
    self.set_awaits_peer(stream, true);
    return 0;
  }

  static int header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                    std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                    std::uint8_t, void* user) noexcept {
    Http2Session& self = self_of(user);
    Stream* const stream = self.find(frame->hd.stream_id);
    if (stream == nullptr || stream->header_is_too_large) return 0;
    const std::size_t size = name_size + value_size + kHeaderOverhead_bytes;
    if (size > self.limits_.header_bytes - stream->header_bytes ||
        self.trimmer_.has_cut(stream->id)) {
      stream->header_is_too_large = true;
    } else {
      stream->header_bytes += static_cast<std::uint32_t>(size);
      self.on_header(*stream, {text_of(name, name_size), text_of(value, value_size)});
    }
    return 0;
  }

  static int data(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* bytes,
                  std::size_t size, void* user) noexcept {
    Http2Session& self = self_of(user);
    if (Stream* const stream = self.find(id)) self.on_data(*stream, text_of(bytes, size));
    return 0;
  }

  static int frame(nghttp2_session*, const nghttp2_frame* frame, void* user) noexcept {
    Http2Session& self = self_of(user);
    const nghttp2_frame_hd& header = frame->hd;
    if (header.type == NGHTTP2_PING) {
      const bool is_last = (header.flags & NGHTTP2_FLAG_ACK) != 0 &&
                           std::ranges::equal(frame->ping.opaque_data, kLastPing);
      if (is_last) self.submit_goodbye();
      return 0;
    }
    if (header.type != NGHTTP2_HEADERS && header.type != NGHTTP2_DATA) return 0;
    Stream* const stream = self.find(header.stream_id);
    if (stream != nullptr && header.type == NGHTTP2_HEADERS) self.on_headers_end(*stream);
    if (!ends_stream(header)) return 0;
    if (self.role_ == Role::client) self.make_up_for(kWorthOfStream);
    if (stream != nullptr) self.on_end(*stream);
    return 0;
  }

  static int frame_sent(nghttp2_session* session, const nghttp2_frame* frame, void* user) noexcept {
    Http2Session& self = self_of(user);
    const nghttp2_frame_hd& header = frame->hd;
    if (header.type == NGHTTP2_DATA) self.make_up_for(kWorthOfData);
    if (self.role_ == Role::client || !ends_stream(header)) return 0;
    self.make_up_for(kWorthOfStream);
    // A peer that was answered before it has sent everything need not send the rest.
    if (nghttp2_session_get_stream_remote_close(session, header.stream_id) == 0) {
      nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, header.stream_id, NGHTTP2_NO_ERROR);
    }
    return 0;
  }

  static int frame_not_sent(nghttp2_session*, const nghttp2_frame* frame, int,
                            void* user) noexcept {
    Http2Session& self = self_of(user);
    if (self.role_ == Role::client && frame->hd.type == NGHTTP2_HEADERS) {
      self.close(frame->hd.stream_id, NGHTTP2_REFUSED_STREAM);
    }
    return 0;
  }

  static int stream_closed(nghttp2_session*, std::int32_t id, std::uint32_t error,
                           void* user) noexcept {
    Http2Session& self = self_of(user);
    const Stream* const stream = self.find(id);
    if (self.role_ == Role::server && stream != nullptr && error != NGHTTP2_NO_ERROR &&
        self.now_ - stream->begun_at >= kLifeOfCall) {
      self.make_up_for(kFramesOfCall);
    }
    self.close(id, error);
    return 0;
  }

  static ssize_t body(nghttp2_session*, std::int32_t, std::uint8_t* buffer, std::size_t size,
                      std::uint32_t* flags, nghttp2_data_source* source, void* user) noexcept {
    Stream& stream = *static_cast<Stream*>(source->ptr);
    const std::size_t count = std::min(size, stream.body.size() - stream.sent);
    std::memcpy(buffer, stream.body.data() + stream.sent, count);
    stream.sent += count;
    if (stream.sent == stream.body.size()) {
      *flags |= NGHTTP2_DATA_FLAG_EOF;
      if (self_of(user).on_body_sent(stream)) *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
    }
    return static_cast<ssize_t>(count);
  }

  static const nghttp2_session_callbacks* callbacks() {
    static const std::unique_ptr<nghttp2_session_callbacks, FreeCallbacks> kCallbacks = [] {
      nghttp2_session_callbacks* all = nullptr;
      if (nghttp2_session_callbacks_new(&all) != 0) throw std::bad_alloc();
      nghttp2_session_callbacks_set_on_begin_frame_callback(all, begin_frame);
      nghttp2_session_callbacks_set_on_begin_headers_callback(all, begin_headers);
      nghttp2_session_callbacks_set_on_header_callback(all, header);
      nghttp2_session_callbacks_set_on_data_chunk_recv_callback(all, data);
      nghttp2_session_callbacks_set_on_frame_recv_callback(all, frame);
      nghttp2_session_callbacks_set_on_frame_send_callback(all, frame_sent);
      nghttp2_session_callbacks_set_on_frame_not_send_callback(all, frame_not_sent);
      nghttp2_session_callbacks_set_on_stream_close_callback(all, stream_closed);
      return std::unique_ptr<nghttp2_session_callbacks, FreeCallbacks>(all);
    }();
    return kCallbacks.get();
  }

  static const nghttp2_option* options() {
    static const std::unique_ptr<nghttp2_option, FreeOption> kOptions = [] {
      nghttp2_option* all = nullptr;
      if (nghttp2_option_new(&all) != 0) throw std::bad_alloc();
      nghttp2_option_set_no_closed_streams(all, 1);
#ifdef TASKBENCH_NGHTTP2_HAS_LIMITS
      // Our own limits cover these: nghttp2's are too strict for calls with deadlines, and end the
      // connection without a message.
      nghttp2_option_set_stream_reset_rate_limit(all, UINT64_MAX, UINT64_MAX);
      nghttp2_option_set_max_continuations(all, SIZE_MAX);
#endif
      return std::unique_ptr<nghttp2_option, FreeOption>(all);
    }();
    return kOptions.get();
  }

  /// Converts headers to nghttp2's form, which copies the texts.
  std::span<const nghttp2_nv> native(std::span<const Header> all) {
    headers.clear();
    for (const Header& each : all) {
      headers.push_back({const_cast<std::uint8_t*>(bytes_of(each.name)),
                         const_cast<std::uint8_t*>(bytes_of(each.value)), each.name.size(),
                         each.value.size(), NGHTTP2_NV_FLAG_NONE});
    }
    return headers;
  }

  nghttp2_session* session = nullptr;
  std::vector<nghttp2_nv> headers;
};

Http2Session::Http2Session(Role role, const Http2Limits& limits)
    : role_(role),
      limits_(limits),
      native_(std::make_unique<Native>()),
      trimmer_(role == Role::server ? NGHTTP2_CLIENT_MAGIC_LEN : 0) {
  const auto make =
      role == Role::server ? nghttp2_session_server_new2 : nghttp2_session_client_new2;
  if (make(&native_->session, Native::callbacks(), this, Native::options()) != 0) {
    throw std::bad_alloc();
  }
  const std::array settings{
      nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits.streams},
      nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, limits.header_bytes},
      nghttp2_settings_entry{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},  // clients only
  };
  const std::size_t count = role == Role::server ? settings.size() - 1 : settings.size();
  nghttp2_submit_settings(native_->session, NGHTTP2_FLAG_NONE, settings.data(), count);
}

Http2Session::~Http2Session() = default;

void Http2Session::receive(std::string_view in, Clock::time_point now) {
  if (is_deaf_) return;
  const std::chrono::duration<double> passed = now - std::exchange(now_, now);
  make_up_for(passed.count() * limits_.fruitless_per_s);
  in = trimmer_.trimmed(in);
  fruitless_frames_ += trimmer_.unreported();
  const auto taken = nghttp2_session_mem_recv(native_->session, bytes_of(in), in.size());
  if (taken == NGHTTP2_ERR_NOMEM) throw std::bad_alloc();
  if (taken < 0) {
    // The peer does not speak HTTP/2, or demands more answers than nghttp2 permits.
    terminate(taken == NGHTTP2_ERR_FLOODED ? NGHTTP2_ENHANCE_YOUR_CALM : NGHTTP2_PROTOCOL_ERROR);
    is_deaf_ = true;
  } else if (fruitless_frames_ > limits_.fruitless_burst) {
    terminate(NGHTTP2_ENHANCE_YOUR_CALM);
    is_deaf_ = true;
  }
}

void Http2Session::send(std::string& out, std::size_t most) {
  while (!is_broken_ && out.size() < most) {
    const std::uint8_t* bytes = nullptr;
    const auto size = nghttp2_session_mem_send(native_->session, &bytes);
    if (size == 0) return;
    if (size < 0) {
      is_broken_ = true;
    } else {
      out += text_of(bytes, static_cast<std::size_t>(size));
    }
  }
}

bool Http2Session::wants_to_send() const {
  return !is_broken_ && nghttp2_session_want_write(native_->session) != 0;
}

bool Http2Session::is_over() const {
  return is_broken_ || (nghttp2_session_want_read(native_->session) == 0 &&
                        nghttp2_session_want_write(native_->session) == 0);
}

void Http2Session::terminate(std::uint32_t error) {
  nghttp2_session_terminate_session(native_->session, error);
}

void Http2Session::begin_shutdown() {
  if (role_ == Role::client) return submit_goodbye();
  nghttp2_submit_shutdown_notice(native_->session);
  nghttp2_submit_ping(native_->session, NGHTTP2_FLAG_NONE, kLastPing.data());
}

void Http2Session::submit_goodbye() {
  nghttp2_submit_goaway(native_->session, NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(native_->session), NGHTTP2_NO_ERROR,
                        nullptr, 0);
}

void Http2Session::make_up_for(double frames) {
  fruitless_frames_ = std::max(0.0, fruitless_frames_ - frames);
}

StreamId Http2Session::oldest_awaited() const {
  StreamId oldest = 0;
  if (awaited_ == 0) return oldest;
  for (const auto& [id, stream] : streams_) {
    if (stream->awaits_peer && (oldest == 0 || id < oldest)) oldest = id;
  }
  return oldest;
}

Http2Session::Stream* Http2Session::find(StreamId id) const {
  const auto found = streams_.find(id);
  return found == streams_.end() ? nullptr : found->second.get();
}

void Http2Session::set_awaits_peer(Stream& stream, bool awaits) {
  const bool did = std::exchange(stream.awaits_peer, awaits);
  if (awaits && !did) ++awaited_;
  if (!awaits && did) --awaited_;
}

void Http2Session::close(StreamId id, std::uint32_t error) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  Stream& stream = *found->second;
  set_awaits_peer(stream, false);
  on_close(stream, error);
  streams_.erase(found);
}

void Http2Session::submit_response(Stream& stream, std::span<const Header> headers, bool has_body) {
  const auto native = native_->native(headers);
  const nghttp2_data_provider body{{.ptr = &stream}, Native::body};
  nghttp2_submit_response(native_->session, stream.id, native.data(), native.size(),
                          has_body ? &body : nullptr);
}

void Http2Session::submit_trailers(Stream& stream, std::span<const Header> trailers) {
  const auto native = native_->native(trailers);
  nghttp2_submit_trailer(native_->session, stream.id, native.data(), native.size());
}

Http2Session::Stream* Http2Session::submit_request(std::unique_ptr<Stream> stream,
                                                   std::span<const Header> headers) {
  const auto native = native_->native(headers);
  const nghttp2_data_provider body{{.ptr = stream.get()}, Native::body};
  const StreamId id = nghttp2_submit_request(native_->session, nullptr, native.data(),
                                             native.size(), &body, nullptr);
  if (id < 0) return nullptr;
  stream->id = id;
  return (streams_[id] = std::move(stream)).get();
}

void Http2Session::submit_cancel(StreamId id) {
  nghttp2_submit_rst_stream(native_->session, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
}

}  // namespace taskbench::workloads::net
