#include "workloads/net/http2_header_trimmer.hpp"

#include <algorithm>

namespace taskbench::workloads::net {
namespace {

constexpr std::size_t kFrameHeader_bytes = 9;
constexpr std::size_t kLargestFrame_bytes = 16'384;  // we have announced no other limit
constexpr char kData = 0;
constexpr char kHeaders = 1;
constexpr char kResetStream = 3;
constexpr char kContinuation = 9;
constexpr unsigned kEndHeaders = 0x4;
constexpr unsigned kPadded = 0x8;
constexpr unsigned kPriority = 0x20;
constexpr std::size_t kPriority_bytes = 5;
constexpr std::size_t kMostPadding_bytes = 256;  // with the byte for its length

/// The longest encoded string that is passed on. Below 64 KiB and, even in Huffman code with up to
/// 30 bits per character, longer than the table.
constexpr std::uint64_t kLongestString_bytes = 32'768;
/// The length to which a longer string is cut: still more than fits into the table.
constexpr std::size_t kTable_bytes = 4'096;
/// The encoded length: 127 in the first byte, 4,096 - 127 = 31 * 128 + 1 in the others.
constexpr std::string_view kTableLength("\x7f\x81\x1f", 3);
constexpr unsigned kLongestNumber_bits = 35;

unsigned char byte_of(char each) { return static_cast<unsigned char>(each); }

std::size_t length_of(std::string_view frame) {
  return static_cast<std::size_t>(byte_of(frame[0])) << 16 |
         static_cast<std::size_t>(byte_of(frame[1])) << 8 | byte_of(frame[2]);
}

}  // namespace

std::string_view Http2HeaderTrimmer::trimmed(std::string_view in) {
  out_.clear();
  // A header whose name was cut may end in a later call.
  if (!is_in_block_) cut_streams_.clear();
  unreported_ = 0;
  // While nothing needs to change, `in` is the result.
  const std::string_view whole = in;
  bool is_changed = !frame_.empty();
  const auto change = [&] {
    if (!is_changed) out_ = whole.substr(0, whole.size() - in.size());
    is_changed = true;
  };
  const auto pass = [&](std::size_t size) {
    if (is_changed) out_ += in.substr(0, size);
    in.remove_prefix(size);
  };
  while (!in.empty()) {
    if (verbatim_bytes_ > 0) {
      const std::size_t size = std::min(verbatim_bytes_, in.size());
      verbatim_bytes_ -= size;
      pass(size);
      continue;
    }
    const std::size_t missing = kFrameHeader_bytes - std::min(frame_.size(), kFrameHeader_bytes);
    if (missing > 0) {
      if (in.size() < missing) change();
      const std::size_t size = std::min(missing, in.size());
      frame_ += in.substr(0, size);
      if (frame_.size() == kFrameHeader_bytes && !is_to_be_held()) {
        if (is_changed) out_ += frame_;
        verbatim_bytes_ = length_of(frame_);
        frame_.clear();
        is_in_block_ = false;
      } else {
        change();
      }
      in.remove_prefix(size);
    } else {
      const std::size_t size =
          std::min(kFrameHeader_bytes + length_of(frame_) - frame_.size(), in.size());
      frame_ += in.substr(0, size);
      in.remove_prefix(size);
    }
    if (frame_.size() >= kFrameHeader_bytes &&
        frame_.size() == kFrameHeader_bytes + length_of(frame_)) {
      take_frame();
    }
  }
  return is_changed ? std::string_view(out_) : whole;
}

/// Called once for each frame. Whether it must be examined: headers that fit into one frame have no
/// string that is too long.
bool Http2HeaderTrimmer::is_to_be_held() {
  // nghttp2 reports no DATA and no CONTINUATION of streams that have ended, and no type after that.
  if (may_be_empty_data() || byte_of(frame_[3]) >= kContinuation) ++unreported_;
  if (length_of(frame_) > kLargestFrame_bytes) return false;  // it ends the connection
  if (is_in_block_) return frame_[3] == kContinuation;
  if (frame_[3] == kHeaders) highest_ = std::max(highest_, stream());
  if (is_reset_of_nothing()) return true;
  return frame_[3] == kHeaders && (byte_of(frame_[4]) & kEndHeaders) == 0;
}

bool Http2HeaderTrimmer::may_be_empty_data() const {
  const bool is_padded = (byte_of(frame_[4]) & kPadded) != 0;
  return frame_[3] == kData && length_of(frame_) <= (is_padded ? kMostPadding_bytes : 0);
}

/// Whether the frame resets a stream that the peer could open but has not: 4 bytes, odd stream.
bool Http2HeaderTrimmer::is_reset_of_nothing() const {
  constexpr std::size_t kReset_bytes = 4;
  return is_peer_client_ && !is_in_block_ && frame_[3] == kResetStream &&
         length_of(frame_) == kReset_bytes && stream() % 2 == 1 && stream() > highest_;
}

StreamId Http2HeaderTrimmer::stream() const {
  StreamId id = 0;
  for (const char each : std::string_view(frame_).substr(5, 4)) id = id << 8 | byte_of(each);
  return id & 0x7fffffff;
}

void Http2HeaderTrimmer::take_frame() {
  if (is_reset_of_nothing()) {
    ++unreported_;
    frame_.clear();
    return;
  }
  const unsigned flags = byte_of(frame_[4]);
  std::string_view fragment = std::string_view(frame_).substr(kFrameHeader_bytes);
  std::string_view priority;
  if (!is_in_block_) {
    at_ = At::field;
    std::size_t padding = 0;
    if ((flags & kPadded) != 0 && !fragment.empty()) {
      padding = byte_of(fragment[0]);
      fragment.remove_prefix(1);
    }
    if ((flags & kPriority) != 0) {
      priority = fragment.substr(0, kPriority_bytes);
      fragment.remove_prefix(priority.size());
    }
    if (padding > fragment.size()) {  // it ends the connection
      out_ += frame_;
      frame_.clear();
      return;
    }
    fragment.remove_suffix(padding);
  }
  put_frame(fragment, priority);
  is_in_block_ = (flags & kEndHeaders) == 0;
  frame_.clear();
}

/// Passes the frame on unchanged or, if it was cut, without padding and in two frames if necessary.
void Http2HeaderTrimmer::put_frame(std::string_view fragment, std::string_view priority) {
  std::string changed;
  trim(fragment, changed);
  if (changed == fragment) {
    out_ += frame_;
    return;
  }
  changed.insert(0, priority);
  std::string_view rest = changed;
  const unsigned flags = byte_of(frame_[4]) & ~kPadded;
  char type = frame_[3];
  do {
    const std::string_view payload = rest.substr(0, kLargestFrame_bytes);
    rest.remove_prefix(payload.size());
    for (const int shift : {16, 8, 0}) out_ += static_cast<char>(payload.size() >> shift & 0xff);
    out_ += type;
    out_ += static_cast<char>(rest.empty() ? flags : flags & ~kEndHeaders);
    out_ += std::string_view(frame_).substr(5, 4);
    out_ += payload;
    type = kContinuation;
  } while (!rest.empty());
}

void Http2HeaderTrimmer::trim(std::string_view fragment, std::string& out) {
  while (!fragment.empty()) {
    if (at_ != At::string) {
      trim_one(byte_of(fragment[0]), out);
      fragment.remove_prefix(1);
      continue;
    }
    const std::size_t size = std::min<std::uint64_t>(number_, fragment.size());
    if (!is_cutting_) out += fragment.substr(0, size);
    fragment.remove_prefix(size);
    number_ -= size;
    if (number_ == 0) end_string();
  }
}

void Http2HeaderTrimmer::trim_one(unsigned char byte, std::string& out) {
  switch (at_) {
    case At::field: {
      out += static_cast<char>(byte);
      const bool is_indexed = (byte & 0x80) != 0;
      const bool is_added = !is_indexed && (byte & 0x40) != 0;
      const bool resizes = !is_indexed && !is_added && (byte & 0x20) != 0;
      const unsigned most = is_indexed ? 0x7f : is_added ? 0x3f : resizes ? 0x1f : 0xf;
      const unsigned index = byte & most;
      strings_ = is_indexed || resizes ? 0 : index == 0 ? 2 : 1;
      at_ = index == most ? At::index : strings_ == 0 ? At::field : At::length;
      return;
    }
    case At::index:
      out += static_cast<char>(byte);
      if ((byte & 0x80) == 0) at_ = strings_ == 0 ? At::field : At::length;
      return;
    case At::length:
      length_ = static_cast<char>(byte);
      number_ = byte & 0x7f;
      shift_ = 0;
      if (number_ < 0x7f) return begin_string(out);
      at_ = At::long_length;
      return;
    case At::long_length:
      length_ += static_cast<char>(byte);
      // A larger number still ends the connection.
      if (shift_ < kLongestNumber_bits) number_ += std::uint64_t{byte & 0x7fU} << shift_;
      shift_ += 7;
      if ((byte & 0x80) == 0 || shift_ > 2 * kLongestNumber_bits) begin_string(out);
      return;
    case At::string:
      return;
  }
}

void Http2HeaderTrimmer::begin_string(std::string& out) {
  is_cutting_ = number_ > kLongestString_bytes && shift_ <= kLongestNumber_bits;
  if (is_cutting_) {
    out += kTableLength;
    out.append(kTable_bytes, 'x');
    if (!has_cut(stream())) cut_streams_.push_back(stream());
  } else {
    out += length_;
  }
  at_ = At::string;
  if (number_ == 0) end_string();
}

void Http2HeaderTrimmer::end_string() {
  --strings_;
  at_ = strings_ == 0 ? At::field : At::length;
}

}  // namespace taskbench::workloads::net
