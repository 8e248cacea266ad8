// `taskbench compare`: result files of Google Benchmark against each other.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/verdict_options.hpp"
#include "reports/render/render.hpp"
#include "reports/verdict/file_columns.hpp"
#include "reports/verdict/files.hpp"

namespace taskbench::cli {

class CompareCommand final : public Command {
 public:
  void declare(CLI::App& app, OptionValueTable& values) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  [[nodiscard]] reports::verdict::FilesPolicy policy() const;
  using RenderColumns = std::string(const reports::verdict::ColumnsReport& report,
                                    const reports::render::TableStyle& style);
  [[nodiscard]] ExitCode compare_in_columns(const std::optional<std::string>& by,
                                            RenderColumns* as_text) const;
  /// Prints the text, and says by the exit code what the report says.
  [[nodiscard]] ExitCode told(const reports::verdict::FilesReport& report,
                              std::string_view text) const;

  std::vector<std::string> files_;
  std::vector<std::string> base_;
  std::vector<std::string> head_;
  std::vector<std::string> columns_;
  std::vector<std::string> by_;
  std::vector<std::string> map_;
  std::vector<std::string> format_;
  VerdictOptions verdict_;
};

}  // namespace taskbench::cli
