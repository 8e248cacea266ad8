#include "reports/json/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace taskbench::reports::json {
namespace {

constexpr int kMaxDepth = 64;
constexpr std::size_t kMostShownDigits = 30;

constexpr std::array<std::string_view, 4> kBareWords{"NaN", "nan", "Infinity", "inf"};

/// The bytes outside strings that class Outside examines.
constexpr auto kTelling = [] {
  std::array<bool, 256> telling{};
  for (const char each : std::string_view("\"{}[]NnIi")) {
    telling[static_cast<unsigned char>(each)] = true;
  }
  return telling;
}();

/// A place in words. Line and column count from 1, the byte from 0, as `dd skip=` and hex dumps do.
std::string place_in(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, byte);
  const auto newline = before.rfind('\n');
  const auto column = newline == std::string_view::npos ? before.size() : byte - newline - 1;
  return fmt::format("line {}, column {} (byte {})", std::ranges::count(before, '\n') + 1,
                     column + 1, byte);
}

/// Builds the JSON value, and records where and why the library's parser stopped.
class Builder : public nlohmann::json_sax<Json> {
 public:
  /// `words`: the text that each null stands for; see Outside.
  Builder(std::string_view text, const std::vector<std::string>& words, const ElementsOf& elements)
      : text_(text), words_(words), elements_(elements) {}

  bool null() override {
    const std::size_t index = nulls_++;
    const bool is_word = index < words_.size() && !words_[index].empty();
    return scalar(is_word ? Json(words_[index]) : Json());
  }
  bool boolean(bool value) override { return scalar(value); }
  bool number_integer(number_integer_t value) override { return scalar(value); }
  bool number_unsigned(number_unsigned_t value) override { return scalar(value); }
  bool number_float(number_float_t value, const string_t&) override { return scalar(value); }
  bool string(string_t& value) override { return scalar(std::move(value)); }
  bool binary(binary_t&) override { return true; }  // JSON has none
  bool start_object(std::size_t) override { return begin(Json::object()); }
  bool key(string_t& value) override {
    key_ = std::move(value);
    return true;
  }
  bool end_object() override { return end(); }
  bool start_array(std::size_t) override {
    const bool are_taken =
        elements_.take && open_.size() == 1 && open_.back()->is_object() && key_ == elements_.key;
    begin(Json::array());
    if (are_taken) taken_from_ = open_.back();
    return true;
  }
  bool end_array() override { return end(); }

  /// `read` bytes were consumed, including the wrong one.
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

  Json document;
  std::string what;

 private:
  [[nodiscard]] bool is_element() const {
    return taken_from_ != nullptr && open_.back() == taken_from_;
  }

  Json& put(Json value) {
    if (open_.empty()) return document = std::move(value);
    if (is_element()) return element_ = std::move(value);
    if (open_.back()->is_array()) {
      open_.back()->push_back(std::move(value));
      return open_.back()->back();
    }
    return (*open_.back())[key_] = std::move(value);
  }

  bool scalar(Json value) {
    put(std::move(value));
    if (!open_.empty() && is_element()) elements_.take(element_);
    return true;
  }

  bool begin(Json container) {
    open_.push_back(&put(std::move(container)));
    return true;
  }

  bool end() {
    if (open_.back() == taken_from_) taken_from_ = nullptr;
    open_.pop_back();
    if (!open_.empty() && is_element()) elements_.take(element_);
    return true;
  }

  std::string_view text_;
  const std::vector<std::string>& words_;
  const ElementsOf& elements_;
  std::size_t nulls_ = 0;
  std::vector<Json*> open_;  ///< unfinished containers, outermost first
  std::string key_;
  Json* taken_from_ = nullptr;
  Json element_;
};

/// Checks the text outside strings: the depth, and bare words, which become null for the parser.
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
      } else if (words_ == BareWords::as_text) {
        i = after_word(i);
      }
    }
    if (!changed_.empty()) changed_.append(text_, copied_);
  }

  /// The text for the parser: the given one, unless it has bare words.
  [[nodiscard]] std::string_view text() const { return changed_.empty() ? text_ : changed_; }

  /// For each null in text(), the bare word in its place; empty for an original null.
  [[nodiscard]] const std::vector<std::string>& words() const { return nulls_; }

 private:
  /// The position of the closing quotation mark.
  [[nodiscard]] std::size_t end_of_string(std::size_t begin) const {
    for (std::size_t i = begin + 1; i < text_.size(); ++i) {
      if (text_[i] == '\\')
        ++i;
      else if (text_[i] == '"')
        return i;
    }
    return text_.size();
  }

  /// The position of the last byte of the word at `begin`. `null` replaces a bare word, including
  /// its sign and, as a fourth letter, the preceding blank: everything else keeps its position, so
  /// messages give places in the file. Without sign and blank, the text grows by one byte.
  std::size_t after_word(std::size_t begin) {
    constexpr std::string_view kNull = "null";
    if (text_.substr(begin).starts_with(kNull)) {
      nulls_.emplace_back();
      return begin + kNull.size() - 1;
    }
    for (const std::string_view word : kBareWords) {
      if (!text_.substr(begin).starts_with(word)) continue;
      const std::size_t end = begin + word.size();
      std::size_t from = begin;
      const auto takes = [&](char before) { return from > copied_ && text_[from - 1] == before; };
      if (takes('-')) --from;
      nulls_.emplace_back(text_.substr(from, end - from));
      if (end - from < kNull.size() && takes(' ')) --from;
      changed_.append(text_, copied_, from - copied_).append(kNull);
      if (end - from > kNull.size()) changed_.append(end - from - kNull.size(), ' ');
      copied_ = end;
      return end - 1;
    }
    return begin;
  }

  std::string_view text_;
  BareWords words_;
  std::string changed_;
  std::size_t copied_ = 0;  ///< of the text, to changed_
  std::vector<std::string> nulls_;
};

}  // namespace

Json parse_json(std::string_view text, BareWords words, const ElementsOf& elements) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) throw ParseError("it is empty");
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    throw ParseError("it is UTF-16: save it as UTF-8");  // as written by `>` in some Windows shells
  }
  try {
    Outside outside(text, words);
    outside.check();
    Builder builder(outside.text(), outside.words(), elements);
    if (Json::sax_parse(outside.text(), &builder)) return std::move(builder.document);
    throw ParseError(builder.what);
  } catch (const std::bad_alloc&) {
    throw ParseError("it needs more memory than there is");
  }
}

bool begins_with_key(std::string_view text, std::string_view key) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const auto brace = text.find_first_not_of(kBlanks);
  if (brace == std::string_view::npos || text[brace] != '{') return false;
  const auto first = text.find_first_not_of(kBlanks, brace + 1);
  return first != std::string_view::npos &&
         text.substr(first).starts_with(fmt::format("\"{}\"", key));
}

void fail_journal(const std::filesystem::path& path, std::string_view what) {
  throw JournalError(fmt::format("{}: {}", path.string(), what));
}

void for_each_line(const std::filesystem::path& path, std::string_view content,
                   const std::function<void(std::string_view text, std::size_t number)>& take) {
  std::size_t number = 0;
  for (std::size_t newline = 0; (newline = content.find('\n')) != std::string_view::npos;) {
    ++number;
    try {
      take(content.substr(0, newline), number);
    } catch (const std::exception& error) {
      fail_journal(path, fmt::format("line {} does not belong in a taskbench journal: {}", number,
                                     error.what()));
    }
    content.remove_prefix(newline + 1);
  }
  if (number > 0) return;
  const std::string what = fmt::format(
      "{}: is not a journal: not even its first line is complete; delete it to start again",
      path.string());
  constexpr std::string_view kBegin = "{\"taskbench_";
  if (content.starts_with(kBegin.substr(0, content.size()))) throw JournalNotBegun(what);
  throw JournalError(what);
}

}  // namespace taskbench::reports::json
