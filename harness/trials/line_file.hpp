// A journal: a file that grows by whole lines. Each is on the disk before what it records is built
// upon. What the lines contain is up to whoever writes them.
#pragma once

#include "harness/os/descriptor.hpp"
#include "harness/trials/names.hpp"

namespace taskbench::harness {

/// The content of the file. Throws JournalError.
[[nodiscard]] std::string journal_text(const fs::path& path);

/// A journal that is open for writing. Not thread-safe. One writer a file: the file is locked.
class LineFile {
 public:
  /// Creates a file with its first line; without a path, one whose lines go nowhere. Throws
  /// JournalError if it exists or cannot be written.
  static LineFile create(const fs::path& path, const std::string& first);

  /// Opens an existing journal to continue it. A last line that a kill has cut off is removed.
  static LineFile resume(const fs::path& path);

  /// Appends a line, which is on the disk when this returns. Throws JournalError.
  void append(const std::string& line);

 private:
  LineFile(fs::path path, Descriptor descriptor);

  fs::path path_;
  Descriptor descriptor_;
};

}  // namespace taskbench::harness
