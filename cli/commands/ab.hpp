// `taskbench ab`: two programs against each other, in blocks of fresh processes.
#pragma once

#include <string>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/verdict_options.hpp"

namespace taskbench::cli {

/// What the user wrote, option by option, not yet understood.
struct AbArguments {
  std::vector<std::string> base;
  std::vector<std::string> head;
  std::vector<std::string> workloads;
  std::vector<std::string> budget;
  std::vector<std::string> max_blocks;
  std::vector<std::string> repetitions;
  std::vector<std::string> min_time;
  std::vector<std::string> timeout;
  std::vector<std::string> seed;
  std::vector<std::string> store;
  std::vector<std::string> journal;
  std::vector<std::string> json;
  std::vector<std::string> markdown;
  bool resume = false;
  bool run_identical = false;
  bool quiet = false;
};

class AbCommand final : public Command {
 public:
  void declare(CLI::App& app, OptionValueTable& values) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  AbArguments arguments_;
  VerdictOptions verdict_;
};

}  // namespace taskbench::cli
