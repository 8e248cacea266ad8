// A journal: a file that grows by whole lines, each on the disk before what it tells of is gone on
// with. What the lines hold is the business of who writes them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "harness/os/descriptor.hpp"

namespace taskbench::harness {

/// All of the file. Throws JournalError.
[[nodiscard]] std::string journal_text(const std::filesystem::path& path);

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

}  // namespace taskbench::harness
