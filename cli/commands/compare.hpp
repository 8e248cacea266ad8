// `taskbench compare`: result files of Google Benchmark against each other.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/verdict_options.hpp"
#include "reports/verdict/files.hpp"

namespace taskbench::cli {

class CompareCommand final : public Command {
 public:
  void declare(CLI::App& app, OptionValueTable& values) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  [[nodiscard]] reports::verdict::FilesPolicy policy() const;
  /// Prints the text, and says by the exit code what the report says.
  [[nodiscard]] ExitCode told(const reports::verdict::FilesReport& report,
                              std::string_view text) const;

  std::vector<std::string> files_;
  std::vector<std::string> base_;
  std::vector<std::string> head_;
  std::vector<std::string> format_;
  VerdictOptions verdict_;
};

}  // namespace taskbench::cli
