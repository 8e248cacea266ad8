// The options of the commands that measure and give a verdict: where they keep what they measure,
// and where they write what they found.
#pragma once

#include "cli/names.hpp"
#include "cli/options/options.hpp"

namespace taskbench::cli {

struct VerdictOutput {
  fs::path journal;
  bool own_journal = false;  ///< named by the user
  bool resume = false;
  std::optional<fs::path> json;
  std::optional<fs::path> markdown;
  bool quiet = false;

  /// Finds out, before anything is measured, whether the files could be written now. Throws
  /// UsageError when not.
  void refuse_unwritable() const;

  /// Writes those that were asked for. False, with the reason on standard error, when one could
  /// not be written; the other is written all the same.
  [[nodiscard]] bool write(std::string_view verdicts, std::string_view comment) const;
};

class VerdictOutputOptions {
 public:
  /// `journal` is where it is kept when none is named.
  explicit VerdictOutputOptions(std::string_view journal) { output_.journal = journal; }

  /// Declares --journal, --resume, --json, --markdown and --quiet. What a command goes on with
  /// and what it writes, it says itself.
  void declare(Options& options, const std::string& resume_help, const std::string& json_help);

  /// What was given.
  [[nodiscard]] VerdictOutput plan() const;

 private:
  VerdictOutput output_;
  const CLI::Option* journal_option_ = nullptr;
};

}  // namespace taskbench::cli
