// The options of the commands that measure and give a verdict: where they keep what they measure,
// and where they write what they found.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/option_values.hpp"

namespace taskbench::cli {

struct VerdictOutput {
  std::filesystem::path journal;
  bool own_journal = false;  ///< named by the user
  bool resume = false;
  std::optional<std::filesystem::path> json;
  std::optional<std::filesystem::path> markdown;
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
  explicit VerdictOutputOptions(std::string_view journal) : default_journal_(journal) {}

  /// Declares --journal, --resume, --json, --markdown and --quiet. What a command goes on with
  /// and what it writes, it says itself.
  void declare(CLI::App& app, OptionValueTable& values, const std::string& resume_help,
               const std::string& json_help);

  /// Understands what was given. Throws UsageError.
  [[nodiscard]] VerdictOutput plan() const;

 private:
  std::string_view default_journal_;
  std::vector<std::string> journal_;
  std::vector<std::string> json_;
  std::vector<std::string> markdown_;
  bool resume_ = false;
  bool quiet_ = false;
};

}  // namespace taskbench::cli
