// `taskbench completion`: prints a shell's completion script.
#pragma once

#include <string>
#include <vector>

#include "cli/commands/command.hpp"

namespace taskbench::cli {

class CompletionCommand : public Command {
 public:
  void declare(CLI::App& app, OptionValueTable& values) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  std::vector<std::string> shell_;
};

}  // namespace taskbench::cli
