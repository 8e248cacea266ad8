// `taskbench list`: what can be measured, and with which constants.
#pragma once

#include <string>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/format_option.hpp"

namespace taskbench::cli {

class ListCommand : public Command {
 public:
  void declare(CLI::App& app, OptionValueTable& values) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  std::vector<std::string> topic_;
  FormatOption format_;
};

}  // namespace taskbench::cli
