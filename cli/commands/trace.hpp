// `taskbench trace`: records what every worker does when, for a trace viewer.
#pragma once

#include <string>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/run_plan.hpp"

namespace taskbench::cli {

struct TraceArguments {
  RunArguments run;  ///< those that choose the case
  std::vector<std::string> out;
  std::vector<std::string> iterations;
  std::vector<std::string> warmup;
  std::vector<std::string> events;
  bool quiet = false;
};

class TraceCommand : public Command {
 public:
  void declare(CLI::App& app, OptionValueTable& values) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  TraceArguments arguments_;
};

}  // namespace taskbench::cli
