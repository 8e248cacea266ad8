// `taskbench doctor`: what will disturb a measurement here, and the least that anything costs.
#pragma once

#include <string>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/format_option.hpp"

namespace taskbench::cli {

class DoctorCommand final : public Command {
 public:
  void declare(CLI::App& app, OptionValueTable& values) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  FormatOption format_;
  std::vector<std::string> json_;
  bool quiet_ = false;
};

}  // namespace taskbench::cli
