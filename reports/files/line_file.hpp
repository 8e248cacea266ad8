// A journal: a file that grows by whole lines. Each is on the disk before what it records is built
// upon. What the lines contain is up to whoever writes them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "reports/files/descriptor.hpp"

namespace taskbench::reports::files {

/// A journal that cannot be read or written; what() names the file and the line, and says what to
/// do.
class JournalError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The content of the file. Throws JournalError.
[[nodiscard]] std::string journal_text(const std::filesystem::path& path);

/// Passes each line to `take`, without its newline, numbered from 1. A last line without a newline
/// was cut off by a kill, and is left out. What `take` throws becomes a JournalError that names the
/// line; a journal without a complete line throws one, too. `path` is for the messages.
void for_each_line(const std::filesystem::path& path, std::string_view content,
                   const std::function<void(std::string_view text, std::size_t number)>& take);

/// A journal that is open for writing. Not thread-safe. One writer a file: the file is locked.
class LineFile {
 public:
  /// Creates a file with its first line. Throws JournalError if it exists or cannot be written.
  static LineFile create(const std::filesystem::path& path, const std::string& first);

  /// Opens an existing journal to continue it. A last line that a kill has cut off is removed.
  static LineFile resume(const std::filesystem::path& path);

  /// Appends a line, which is on the disk when this returns. Throws JournalError.
  void append(const std::string& line);

 private:
  LineFile(std::filesystem::path path, Descriptor descriptor);

  std::filesystem::path path_;
  Descriptor descriptor_;
};

}  // namespace taskbench::reports::files
