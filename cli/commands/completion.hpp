// `taskbench completion`: prints a shell's completion script.
#pragma once

#include "cli/commands/command.hpp"

namespace taskbench::cli {

struct Shell;

class CompletionCommand : public Command {
 public:
  void declare(CLI::App& app, OptionValueTable& values) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  const Shell* shell_ = nullptr;
};

}  // namespace taskbench::cli
