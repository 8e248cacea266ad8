// A filter in front of nghttp2, which ends the whole connection because of one header of more than
// 64 KiB. It shortens such a header in the incoming bytes, so that only its stream must be refused.
//
// It understands where HPACK (RFC 7541) strings begin and end, not what they mean. The table of
// headers stays as the peer believes it to be: an entry that is larger than the table empties it,
// and so does the rest of that entry.
//
// From a client, it also removes resets of streams that the client never opened. RFC 9113 lets
// nghttp2 end the connection for these, but gRPC's own client sends them for calls whose deadline
// passes before their headers are sent.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace taskbench::workloads::net {

/// The number of a stream in its session; 0: none.
using StreamId = std::int32_t;

class Http2HeaderTrimmer {
 public:
  /// `preface_bytes` is the size of the text before the first frame: 0 if the peer is a server.
  explicit Http2HeaderTrimmer(std::size_t preface_bytes)
      : is_peer_client_(preface_bytes > 0), verbatim_bytes_(preface_bytes) {}

  /// The bytes for nghttp2 to receive in place of `in`, the next bytes that arrived. Valid until
  /// the next call. The beginning of a frame is kept until the rest arrives.
  [[nodiscard]] std::string_view trimmed(std::string_view in);
  /// Whether the last call of trimmed() shortened a header of this stream, or an earlier call did
  /// in the same block of headers.
  [[nodiscard]] bool has_cut(StreamId stream) const {
    return std::ranges::find(cut_streams_, stream) != cut_streams_.end();
  }
  /// The number of frames in the last input of trimmed() that nghttp2 does not report, or may not:
  /// resets that were removed, CONTINUATION, frames of unknown types, and DATA that may be nothing
  /// but padding.
  [[nodiscard]] std::uint32_t unreported() const { return unreported_; }

 private:
  enum class At : std::uint8_t { field, index, length, long_length, string };

  [[nodiscard]] bool is_to_be_held();
  [[nodiscard]] bool may_be_empty_data() const;
  [[nodiscard]] bool is_reset_of_nothing() const;
  [[nodiscard]] StreamId stream() const;
  void take_frame();
  void put_frame(std::string_view fragment, std::string_view priority);
  void trim(std::string_view fragment, std::string& out);
  void trim_one(unsigned char byte, std::string& out);
  void begin_string(std::string& out);
  void end_string();

  const bool is_peer_client_;
  StreamId highest_ = 0;  // of the streams that the peer has opened
  std::uint32_t unreported_ = 0;
  std::string out_;
  std::size_t verbatim_bytes_;  // left of the preface, or of an unchanged frame
  std::string frame_;           // its header, and its payload if examined
  bool is_in_block_ = false;    // whether headers continue in the next frame

  // For headers: the position, whether the string is being cut, and the number of strings left in
  // the field.
  At at_ = At::field;
  bool is_cutting_ = false;
  unsigned strings_ = 0;
  unsigned shift_ = 0;
  std::uint64_t number_ = 0;  // an index or a length; within a string, the bytes left
  std::string length_;        // the bytes of a length
  std::vector<StreamId> cut_streams_;
};

}  // namespace taskbench::workloads::net
