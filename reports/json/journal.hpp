// The journal of a paired trial: one JSON object a line, the setup first, then a line for each
// count of instructions and for each process, and a last one that says why it ended. Each line is
// on the disk before the next process is begun, so that a killed trial loses at most one process's
// sample.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "reports/files/line_file.hpp"
#include "reports/json/field.hpp"
#include "reports/model/paired.hpp"

namespace taskbench::reports::json {

/// Without the newline.
[[nodiscard]] std::string journal_line(const model::PairedSetup& setup);
[[nodiscard]] std::string journal_line(const model::InstructionSample& sample);
[[nodiscard]] std::string journal_line(const model::ProcessSample& sample);
[[nodiscard]] std::string journal_line(model::TrialEnd end);

/// Reads what a trial has come to. A last line without its newline is what a kill left behind, and
/// is left out. Throws JournalError for everything else that is not as it was written.
[[nodiscard]] model::PairedTrial parse_journal(const std::filesystem::path& path,
                                               std::string_view content);

/// As above, from the file. Throws JournalError when it cannot be read, too.
[[nodiscard]] model::PairedTrial read_journal(const std::filesystem::path& path);

/// Adds what one line tells, which a report holds, too. Throws FieldError for a line that is not as
/// it was written, or does not follow those before.
void add_line(model::PairedTrial& trial, const Field& line, bool is_first);

/// Appends to a journal. Not thread-safe; one writer a file: the file is locked.
class JournalWriter {
 public:
  /// A new journal with this setup. Throws JournalError when the file exists or cannot be written.
  static JournalWriter create(const std::filesystem::path& path, const model::PairedSetup& setup) {
    return JournalWriter(files::LineFile::create(path, journal_line(setup)));
  }

  /// Goes on with one. What a kill left behind of its last line is cut off.
  static JournalWriter resume(const std::filesystem::path& path) {
    return JournalWriter(files::LineFile::resume(path));
  }

  /// On the disk when it returns. Throws JournalError.
  void append(const model::InstructionSample& sample) { file_.append(journal_line(sample)); }
  void append(const model::ProcessSample& sample) { file_.append(journal_line(sample)); }
  void append(model::TrialEnd end) { file_.append(journal_line(end)); }

 private:
  explicit JournalWriter(files::LineFile file) : file_(std::move(file)) {}

  files::LineFile file_;
};

}  // namespace taskbench::reports::json
