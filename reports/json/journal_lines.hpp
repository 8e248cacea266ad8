// The lines of a journal, as text: the harness reads and writes the files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string_view>

namespace taskbench::reports::json {

/// A journal that cannot be read or written; what() names the file and the line, and says what to
/// do.
class JournalError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws a JournalError that says `what` of the file.
[[noreturn]] void fail_journal(const std::filesystem::path& path, std::string_view what);

/// Passes each line to `take`, without its newline, numbered from 1. A last line without a newline
/// was cut off by a kill, and is left out. What `take` throws becomes a JournalError that names the
/// line; a journal without a complete line throws one, too. `path` is for the messages.
void for_each_line(const std::filesystem::path& path, std::string_view content,
                   const std::function<void(std::string_view text, std::size_t number)>& take);

}  // namespace taskbench::reports::json
