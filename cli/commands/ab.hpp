// `taskbench ab`: two programs against each other, in blocks of fresh processes.
#pragma once

#include "cli/commands/command.hpp"
#include "cli/paired_options.hpp"

namespace taskbench::cli {

class AbCommand final : public Command {
 public:
  void declare(CLI::App& app, OptionValueTable& values) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  PairedOptions options_{{.command = "ab",
                          .budget_s = 600,
                          .journal = "taskbench-ab.journal",
                          .replaces_journal = false,
                          .reports_failures = false}};
};

}  // namespace taskbench::cli
