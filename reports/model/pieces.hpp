// Takes the output of tools apart: lines, words, numbers.
#pragma once

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>

namespace taskbench::reports::model {

/// The text without blanks and line breaks at its ends.
[[nodiscard]] inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

/// Removes the first line from the text and returns it without its line break.
[[nodiscard]] inline std::string_view next_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

/// Removes the first word from the text and returns it.
[[nodiscard]] inline std::string_view next_word(std::string_view& text) {
  text = trimmed(text);
  const std::string_view word = text.substr(0, text.find_first_of(" \t"));
  text.remove_prefix(word.size());
  return word;
}

/// Parses the whole text as a number; the base is optional. False if it is not a number.
template <class Number, class... Base>
[[nodiscard]] bool read_number(std::string_view text, Number& number, Base... base) {
  const char* const end = text.data() + text.size();
  const auto [last, failed] = std::from_chars(text.data(), end, number, base...);
  return failed == std::errc{} && last == end;
}

}  // namespace taskbench::reports::model
