// `taskbench baseline`: stored baselines. Its subcommands are commands like those above it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "cli/commands/command.hpp"

namespace taskbench::cli {

class BaselineCommand final : public Command {
 public:
  void declare(CLI::App& app, OptionValueTable& values) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  struct Declared {
    CLI::App* app;
    std::unique_ptr<Command> command;
  };

  std::vector<Declared> commands_;
};

/// Every subcommand, in the order of `--help`. A new one is one more row.
[[nodiscard]] std::span<const CommandEntry> baseline_commands();

}  // namespace taskbench::cli
