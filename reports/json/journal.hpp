// The journal of a paired trial: one JSON object a line, the setup first, then a line for each
// process, and a last one that says why it ended. Each line is on the disk before the next process
// is begun, so that a killed trial loses at most one process's sample.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

#include "reports/json/atomic_file.hpp"
#include "reports/model/paired.hpp"

namespace taskbench::reports::json {

/// A journal that cannot be read; what() names the file and the line, and says what to do.
class JournalError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Without the newline.
[[nodiscard]] std::string journal_line(const model::PairedSetup& setup);
[[nodiscard]] std::string journal_line(const model::ProcessSample& sample);
[[nodiscard]] std::string journal_line(model::TrialEnd end);

/// Reads what a trial has come to. A last line without its newline is what a kill left behind, and
/// is left out. Throws JournalError for everything else that is not as it was written.
[[nodiscard]] model::PairedTrial parse_journal(const std::filesystem::path& path,
                                               std::string_view content);

/// As above, from the file. Throws JournalError when it cannot be read, too.
[[nodiscard]] model::PairedTrial read_journal(const std::filesystem::path& path);

/// Appends to a journal, line by line. Not thread-safe; one writer a file: the file is locked.
class JournalWriter {
 public:
  /// A new journal with this setup. Throws JournalError when the file exists or cannot be written.
  static JournalWriter create(const std::filesystem::path& path, const model::PairedSetup& setup);

  /// Goes on with one. What a kill left behind of its last line is cut off.
  static JournalWriter resume(const std::filesystem::path& path);

  JournalWriter(JournalWriter&& other) noexcept;
  JournalWriter& operator=(JournalWriter&&) = delete;
  ~JournalWriter();

  /// On the disk when it returns. Throws JournalError.
  void append(const model::ProcessSample& sample) { append_line(journal_line(sample)); }
  void append(model::TrialEnd end) { append_line(journal_line(end)); }

 private:
  JournalWriter(std::filesystem::path path, int descriptor)
      : path_(std::move(path)), descriptor_(descriptor) {}

  void lock();
  void append_line(std::string line);

  std::filesystem::path path_;
  int descriptor_;
};

}  // namespace taskbench::reports::json
