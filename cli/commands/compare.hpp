// `taskbench compare`: result files of Google Benchmark against each other.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/verdict_options.hpp"
#include "reports/render/render.hpp"
#include "reports/verdict/file_columns.hpp"
#include "reports/verdict/files.hpp"

namespace taskbench::cli {

struct CompareFormat;

/// OLD and NEW of each --map.
using Mapping = std::vector<std::pair<std::string, std::string>>;

struct NamedFiles {
  std::string name;
  std::vector<std::string> paths;
};

class CompareCommand final : public Command {
 public:
  CompareCommand();
  void declare(CLI::App& app, OptionValueTable& values) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  [[nodiscard]] reports::verdict::FilesPolicy policy() const;
  [[nodiscard]] ExitCode compare_in_columns() const;
  /// Prints the text, and says by the exit code what the report says.
  [[nodiscard]] ExitCode told(const reports::verdict::FilesReport& report,
                              std::string_view text) const;

  std::vector<std::string> files_;
  std::vector<std::string> base_;
  std::vector<std::string> head_;
  std::vector<NamedFiles> columns_;
  std::optional<std::string> by_;
  Mapping mapping_;
  const CompareFormat* format_;
  VerdictOptions verdict_;
};

}  // namespace taskbench::cli
