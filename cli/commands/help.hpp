// `taskbench help COMMAND`: the same as `taskbench COMMAND --help`.
#pragma once

#include <string>
#include <vector>

#include "cli/commands/command.hpp"

namespace taskbench::cli {

class HelpCommand : public Command {
 public:
  void declare(CLI::App& app, OptionValueTable& values) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  std::vector<std::string> path_;
};

}  // namespace taskbench::cli
