// `taskbench gate`: what CI calls, and what fails when a change makes something slower.
#pragma once

#include <optional>
#include <string>

#include "cli/commands/command.hpp"
#include "cli/paired_options.hpp"
#include "reports/render/verdict_table.hpp"

namespace taskbench::cli {

class GateCommand final : public Command {
 public:
  void declare(CLI::App& app, OptionValueTable& values) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  [[nodiscard]] ExitCode gate_two_programs();
  [[nodiscard]] ExitCode gate_stored();
  [[nodiscard]] reports::render::CommentStyle comment_style() const;

  PairedOptions options_{{.command = "gate",
                          .budget_s = 300,
                          .journal = "taskbench-gate.journal",
                          .replaces_journal = true,
                          .reports_failures = true}};
  std::optional<std::string> baseline_;
  std::string title_ = "taskbench";
  bool allow_busy_ = false;
};

}  // namespace taskbench::cli
