// Stands before nghttp2, which ends the whole connection for one header of more than 64 KiB: cuts
// such a header short in the bytes that come in, so that only its stream has to be refused.
//
// Of HPACK (RFC 7541) it knows where strings begin and end, not what they say. The table of headers
// stays what the peer believes it to be: an entry that is larger than the table empties it, and so
// does what is left of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace taskbench::workloads::net {

/// Of a stream in its session; 0: none.
using StreamId = std::int32_t;

class Http2HeaderTrimmer {
 public:
  /// `preface_bytes`: what comes before the first frame.
  explicit Http2HeaderTrimmer(std::size_t preface_bytes) : verbatim_bytes_(preface_bytes) {}

  /// What is to be received in place of `in`, the next that came in. Valid until the next call. The
  /// beginning of a frame is kept until the rest comes.
  [[nodiscard]] std::string_view trimmed(std::string_view in);
  /// Whether a header of this stream was cut short in what trimmed() returned last.
  [[nodiscard]] bool has_cut(StreamId stream) const {
    return std::ranges::find(cut_streams_, stream) != cut_streams_.end();
  }

 private:
  enum class At : std::uint8_t { field, index, length, long_length, string };

  [[nodiscard]] bool is_to_be_held() const;
  void take_frame();
  void put_frame(std::string_view fragment, std::string_view priority);
  void trim(std::string_view fragment, std::string& out);
  void trim_one(unsigned char byte, std::string& out);
  void begin_string(std::string& out);
  void end_string();

  std::string out_;
  std::size_t verbatim_bytes_;  // of the preface, or of a frame that is passed on as it is
  std::string frame_;           // its header, and its payload where it is held
  bool is_in_block_ = false;    // of headers that go on in the next frame

  // In a block: where, in which string, of how many that are left in the field.
  At at_ = At::field;
  bool is_cutting_ = false;
  unsigned strings_ = 0;
  unsigned shift_ = 0;
  std::uint64_t number_ = 0;  // an index or a length; in a string, the bytes to its end
  std::string length_;        // its bytes
  std::vector<StreamId> cut_streams_;
};

}  // namespace taskbench::workloads::net
