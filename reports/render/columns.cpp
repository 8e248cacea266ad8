#include "reports/render/columns.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>

namespace taskbench::reports::render {
namespace {

// A coarse extract of Unicode 15's EastAsianWidth.txt and of the general category Mn: scripts and
// symbols that occur in host names, paths and messages. wcwidth() would depend on the locale of the
// process. Each list alternates between the first of a range and the first after it.
constexpr auto kZeroWidth =
    std::to_array<std::uint32_t>({0x0300, 0x0370, 0x0483, 0x048A, 0x1AB0, 0x1B00, 0x1DC0, 0x1E00,
                                  0x200B, 0x2010, 0x20D0, 0x2100, 0xFE00, 0xFE10});
constexpr auto kDoubleWidth = std::to_array<std::uint32_t>(
    {0x1100, 0x1160, 0x231A, 0x231C,  0x23E9,  0x23ED,  0x23F0, 0x23F1, 0x23F3, 0x23F4, 0x25FD,
     0x25FF, 0x2614, 0x2616, 0x2648,  0x2654,  0x267F,  0x2680, 0x2693, 0x2694, 0x26A1, 0x26A2,
     0x26AA, 0x26AC, 0x26BD, 0x26BF,  0x26C4,  0x26C6,  0x26CE, 0x26CF, 0x26D4, 0x26D5, 0x26EA,
     0x26EB, 0x26F2, 0x26F4, 0x26F5,  0x26F6,  0x26FA,  0x26FB, 0x26FD, 0x26FE, 0x2705, 0x2706,
     0x270A, 0x270C, 0x2728, 0x2729,  0x274C,  0x274D,  0x274E, 0x274F, 0x2753, 0x2756, 0x2757,
     0x2758, 0x2795, 0x2798, 0x27B0,  0x27B1,  0x27BF,  0x27C0, 0x2B1B, 0x2B1D, 0x2B50, 0x2B51,
     0x2B55, 0x2B56, 0x2E80, 0x303F,  0x3041,  0xA4D0,  0xAC00, 0xD7A4, 0xF900, 0xFB00, 0xFE30,
     0xFE70, 0xFF00, 0xFF61, 0x1F300, 0x1FB00, 0x20000, 0x3FFFE});

// Embeddings, overrides and isolates of the bidirectional algorithm; noncharacters of XML.
constexpr auto kDisordering =
    std::to_array<std::uint32_t>({0x202A, 0x202F, 0x2066, 0x206A, 0xFFFE, 0x10000});

bool contains(std::span<const std::uint32_t> bounds, std::uint32_t code_point) {
  return (std::ranges::upper_bound(bounds, code_point) - bounds.begin()) % 2 == 1;
}

constexpr std::uint32_t kReplacement = 0xFFFD;

struct Decoded {
  std::uint32_t code_point;
  std::size_t length;  ///< in bytes; 1 for a byte that does not start a character
};

Decoded decode(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xC2 ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length == 1) return {lead, 1};
  if (length == 0 || text.size() < length) return {kReplacement, 1};
  std::uint32_t code_point = lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {kReplacement, 1};
    code_point = (code_point << 6U) | (byte(i) & 0x3FU);
  }
  constexpr std::array<std::uint32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = 0xD800 <= code_point && code_point <= 0xDFFF;
  if (code_point < kLeast[length] || is_surrogate || code_point > 0x10FFFF) {
    return {kReplacement, 1};
  }
  return {code_point, length};
}

void wrap_line(std::string_view text, std::size_t width, std::string_view indent,
               std::vector<std::string>& lines) {
  std::string line(lines.empty() ? std::string_view() : indent);
  bool has_word = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    if (has_word && display_width(line) + 1 + display_width(word) > width) {
      lines.push_back(std::move(line));
      line = indent;
      has_word = false;
    }
    if (has_word) line += ' ';
    line += word;
    has_word = true;
  }
  lines.push_back(std::move(line));
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const Decoded character = decode(text);
    text.remove_prefix(character.length);
    if (!contains(kZeroWidth, character.code_point)) {
      width += contains(kDoubleWidth, character.code_point) ? 2U : 1U;
    }
  }
  return width;
}

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto harmless = static_cast<std::size_t>(
        std::ranges::find_if_not(text, [](char each) { return each >= ' ' && each <= '~'; }) -
        text.begin());
    result += text.substr(0, harmless);
    text.remove_prefix(harmless);
    if (text.empty()) break;
    const Decoded character = decode(text);
    const std::uint32_t c = character.code_point;
    const bool is_control = (c < 0x20 && c != '\n') || (0x7F <= c && c < 0xA0);
    const bool is_damaged = c == kReplacement && character.length == 1;
    if (is_control || is_damaged || contains(kDisordering, c)) {
      result += "\xEF\xBF\xBD";
    } else {
      result += text.substr(0, character.length);
    }
    text.remove_prefix(character.length);
  }
  return result;
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  std::size_t done = 0;
  for (std::size_t at = 0; (at = text.find(from, done)) != text.npos; done = at + from.size()) {
    result.append(text.substr(done, at - done)).append(to);
  }
  return result.append(text.substr(done));
}

std::string_view beginning(std::string_view text, std::size_t width) {
  std::size_t end = 0;
  while (end < text.size()) {
    const std::string_view character = text.substr(end, decode(text.substr(end)).length);
    const std::size_t used = display_width(character);
    if (used > width) break;
    width -= used;
    end += character.size();
  }
  return text.substr(0, end);
}

std::string shortened(std::string_view text, std::size_t width) {
  std::size_t left = display_width(text);
  if (left <= width) return std::string(text);
  const std::size_t room = width - 1;
  const std::size_t end_room = room / 2;
  const std::string_view begin = beginning(text, room - end_room);
  left -= display_width(begin);
  std::string_view end = text.substr(begin.size());
  while (left > end_room) {
    const std::size_t length = decode(end).length;
    left -= display_width(end.substr(0, length));
    end.remove_prefix(length);
  }
  return std::string(begin).append("…").append(end);
}

std::string one_line(std::string_view text) {
  return replaced(printable(text), "\n", "\xEF\xBF\xBD");
}

std::string pad_left(std::string_view text, std::size_t width) {
  const std::size_t used = display_width(text);
  return std::string(width > used ? width - used : 0, ' ').append(text);
}

std::string pad_right(std::string_view text, std::size_t width) {
  const std::size_t used = display_width(text);
  return std::string(text).append(width > used ? width - used : 0, ' ');
}

std::vector<std::string> wrap(std::string_view text, std::size_t width, std::string_view indent) {
  std::vector<std::string> lines;
  while (true) {
    const std::size_t end = text.find('\n');
    wrap_line(text.substr(0, end), width, indent, lines);
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

std::string or_none(const std::string& text) { return text.empty() ? std::string(kNone) : text; }

}  // namespace taskbench::reports::render
