// A journal: a file that grows by whole lines. Each line is on the disk before anything relies on
// what it records. The writer decides what the lines contain.
#pragma once

#include "harness/files/names.hpp"
#include "harness/os/descriptor.hpp"

namespace taskbench::harness {

/// The content of the file. Throws JournalError.
[[nodiscard]] std::string journal_text(const fs::path& path);

/// A journal that is open for writing. Not thread-safe. The file is locked: it has one writer.
class LineFile {
 public:
  /// Creates a file with its first line; without a path, the lines are discarded. Throws
  /// JournalError if the file exists or cannot be written.
  static LineFile create(const fs::path& path, const std::string& first);

  /// Opens an existing journal to continue it. A last line that a kill has cut off is removed.
  static LineFile resume(const fs::path& path);

  /// Throws JournalError if another taskbench is writing to the file.
  static void refuse_in_use(const fs::path& path);

  /// Appends a line, which is on the disk on return. Throws JournalError.
  void append(const std::string& line);

 private:
  LineFile(fs::path path, Descriptor descriptor);

  fs::path path_;
  Descriptor descriptor_;
};

}  // namespace taskbench::harness
