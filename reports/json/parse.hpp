// Parses texts as JSON, and journals as lines of JSON: the only place that knows what can be wrong
// with them, and how to report it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string_view>

namespace taskbench::reports::json {

using Json = nlohmann::ordered_json;

/// A text that cannot be read as JSON, or is not the expected JSON. what() gives the place, in
/// words that follow the name of a file: "it is not valid JSON, at line 3, column 7 (byte 90): it
/// is cut off there", "field 'settings.seed' is missing".
class ParseError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file that cannot be read or trusted; what() names it, states the error and, unless that is
/// obvious, what to do.
class ReadError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Whether the bare words NaN and Infinity, which are not JSON, are read as texts: "NaN",
/// "-Infinity". Google Benchmark writes them for a spread that it cannot compute.
enum class BareWords { refused, as_text };

/// Receives the elements of the array `key` as they are parsed, instead of keeping all: a JSON
/// value is several times as large as its text. The rest of the text may turn out not to be JSON.
struct ElementsOf {
  std::string_view key;
  std::function<void(const Json&)> take;
};

/// Parses a text. Throws ParseError if it is not JSON or not UTF-8, is nested so deeply that only
/// an attack explains it, contains a number beyond the range of a double, or needs more memory than
/// there is.
[[nodiscard]] Json parse_json(std::string_view text, BareWords words = BareWords::refused,
                              const ElementsOf& elements = {});

/// Whether a text is an object with this first key, judging by its beginning: this identifies a
/// damaged file.
[[nodiscard]] bool begins_with_key(std::string_view text, std::string_view key);

/// A journal that cannot be read or written; what() names the file and the line, and says what to
/// do.
class JournalError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A journal without even a complete first line: its writer was killed before that.
class JournalNotBegun : public JournalError {
 public:
  using JournalError::JournalError;
};

/// Throws a JournalError that says `what` about the file.
[[noreturn]] void fail_journal(const std::filesystem::path& path, std::string_view what);

/// Passes each line to `take`, without its newline, numbered from 1. A last line without a newline
/// was cut off by a kill, and is left out. Any exception from `take` becomes a JournalError that
/// names the line. A journal without a complete line throws JournalNotBegun if it may become one,
/// otherwise JournalError. `path` is for the messages.
void for_each_line(const std::filesystem::path& path, std::string_view content,
                   const std::function<void(std::string_view text, std::size_t number)>& take);

}  // namespace taskbench::reports::json
