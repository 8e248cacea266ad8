// `taskbench compare`: result files of Google Benchmark against each other.
#pragma once

#include <string>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/verdict_options.hpp"

namespace taskbench::cli {

class CompareCommand final : public Command {
 public:
  void declare(CLI::App& app, OptionValueTable& values) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  std::vector<std::string> files_;
  std::vector<std::string> base_;
  std::vector<std::string> head_;
  std::vector<std::string> format_;
  VerdictOptions verdict_;
};

}  // namespace taskbench::cli
