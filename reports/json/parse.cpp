#include "reports/json/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>
#include <nlohmann/json.hpp>
#include <string>

namespace taskbench::reports::json {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMaxDepth = 64;
constexpr std::size_t kMostShownDigits = 30;

constexpr std::array<std::string_view, 4> kBareWords{"NaN", "nan", "Infinity", "inf"};

/// The bytes outside of strings that the check below must look at.
constexpr auto kTelling = [] {
  std::array<bool, 256> telling{};
  for (const char each : std::string_view("\"{}[]NnIi")) {
    telling[static_cast<unsigned char>(each)] = true;
  }
  return telling;
}();

/// Line and column are counted from 1, the byte from 0, as `dd skip=` and hex dumps do.
std::string place_in(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, byte);
  const auto newline = before.rfind('\n');
  const auto column = newline == std::string_view::npos ? before.size() : byte - newline - 1;
  return fmt::format("line {}, column {} (byte {})", std::ranges::count(before, '\n') + 1,
                     column + 1, byte);
}

/// Where and why the library's parser stopped.
class Diagnosis : public nlohmann::json_sax<Json> {
 public:
  explicit Diagnosis(std::string_view text) : text_(text) {}

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }

  /// `read` bytes were taken, the one that is wrong among them.
  bool parse_error(std::size_t read, const std::string& token,
                   const nlohmann::detail::exception& error) override {
    const std::string_view said = error.what();
    if (error.id == 406) {  // out_of_range: a number
      const std::size_t begin = text_.rfind(token, read);
      const bool is_long = token.size() > kMostShownDigits;
      what = fmt::format("it holds a number that is too large, {}{}, at {}",
                         token.substr(0, kMostShownDigits), is_long ? "…" : "",
                         place_in(text_, std::min(begin, read)));
    } else if (said.find("ill-formed UTF-8") != std::string_view::npos && read <= text_.size()) {
      what = fmt::format("it is not UTF-8, at {}: save it in that encoding",
                         place_in(text_, std::max<std::size_t>(read, 1) - 1));
    } else if (read > text_.size()) {
      what = fmt::format("it is not valid JSON, at {}: it is cut off there",
                         place_in(text_, text_.size()));
    } else {
      what = fmt::format("it is not valid JSON, at {}: it is damaged, or something else",
                         place_in(text_, std::max<std::size_t>(read, 1) - 1));
    }
    return false;
  }

  std::string what;

 private:
  std::string_view text_;
};

/// Looks at what stands outside of strings: at the depth, and at bare words where they are null.
class Outside {
 public:
  Outside(std::string_view text, BareWords words) : text_(text), words_(words) {}

  void check() {
    int depth = 0;
    for (std::size_t i = 0; i < text_.size(); ++i) {
      const char each = text_[i];
      if (!kTelling[static_cast<unsigned char>(each)]) continue;
      if (each == '"') {
        i = end_of_string(i);
      } else if (each == '{' || each == '[') {
        if (++depth > kMaxDepth) {
          throw ParseError(
              fmt::format("it is nested too deeply, at {}: no result has more than {} levels",
                          place_in(text_, i), kMaxDepth));
        }
      } else if (each == '}' || each == ']') {
        --depth;
      } else if (words_ == BareWords::as_null) {
        i = after_word(i);
      }
    }
  }

  /// The text to be read: that which was given where there were no bare words.
  [[nodiscard]] std::string_view text() const { return changed_.empty() ? text_ : changed_; }

 private:
  /// The place of the closing quotation mark.
  [[nodiscard]] std::size_t end_of_string(std::size_t begin) const {
    for (std::size_t i = begin + 1; i < text_.size(); ++i) {
      if (text_[i] == '\\')
        ++i;
      else if (text_[i] == '"')
        return i;
    }
    return text_.size();
  }

  /// The place of the last byte of what stands at `begin`. `null` takes the place of a bare word,
  /// with its sign and, for its fourth letter, the blank before it, so that all else stays where it
  /// is and the places in messages are those of the file. Without either, the text grows by one.
  std::size_t after_word(std::size_t begin) {
    for (const std::string_view word : kBareWords) {
      if (!text_.substr(begin).starts_with(word)) continue;
      if (changed_.empty()) changed_ = text_;
      const std::size_t end = begin + word.size() + grown_;
      std::size_t from = begin + grown_;
      const auto takes = [&](char before) { return from > 0 && changed_[from - 1] == before; };
      if (takes('-')) --from;
      if (end - from < 4 && takes(' ')) --from;
      const std::size_t room = std::max<std::size_t>(end - from, 4);
      grown_ += room - (end - from);
      std::string null = "null";
      null.resize(room, ' ');
      changed_.replace(from, end - from, null);
      return begin + word.size() - 1;
    }
    return begin;
  }

  std::string_view text_;
  BareWords words_;
  std::string changed_;
  std::size_t grown_ = 0;
};

}  // namespace

Json parse_json(std::string_view text, BareWords words) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) throw ParseError("it is empty");
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    throw ParseError(
        "it is UTF-16: save it as UTF-8");  // what `>` in some shells of Windows writes
  }
  try {
    Outside outside(text, words);
    outside.check();
    Json document = Json::parse(outside.text(), nullptr, false);
    if (!document.is_discarded()) return document;
    Diagnosis diagnosis(outside.text());
    Json::sax_parse(outside.text(), &diagnosis);
    throw ParseError(diagnosis.what);
  } catch (const std::bad_alloc&) {
    throw ParseError("it needs more memory than there is");
  }
}

}  // namespace taskbench::reports::json
