// A journal: a file that grows by whole lines, each on the disk before what it tells of is gone on
// with. What the lines hold is the business of who writes them.
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

/// All of the file. Throws JournalError.
[[nodiscard]] std::string journal_text(const std::filesystem::path& path);

/// Hands over line by line, numbered from 1, without the newline. A last line that has none is what
/// a kill left behind, and is left out. What `take` throws becomes a JournalError that names the
/// line; so does a journal without a complete line. `path` is for the messages.
void for_each_line(const std::filesystem::path& path, std::string_view content,
                   const std::function<void(std::string_view text, std::size_t number)>& take);

/// Not thread-safe; one writer a file: the file is locked.
class LineFile {
 public:
  /// A new file with its first line. Throws JournalError when it exists or cannot be written.
  static LineFile create(const std::filesystem::path& path, const std::string& first);

  /// Goes on with one. What a kill left behind of its last line is cut off.
  static LineFile resume(const std::filesystem::path& path);

  /// On the disk when it returns. Throws JournalError.
  void append(const std::string& line);

 private:
  LineFile(std::filesystem::path path, Descriptor descriptor);

  std::filesystem::path path_;
  Descriptor descriptor_;
};

}  // namespace taskbench::reports::files
