// `taskbench trace`: records what every worker does when, for a trace viewer.
#pragma once

#include <filesystem>

#include "cli/commands/command.hpp"
#include "cli/run_plan.hpp"
#include "workloads/measure/tracing.hpp"

namespace taskbench::cli {

struct TracePlan {
  workloads::measure::Case spec;
  workloads::measure::TraceSettings settings;
  std::filesystem::path out;
  bool quiet = false;
};

class TraceCommand : public Command {
 public:
  void declare(CLI::App& app, OptionValueTable& values) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  RunArguments arguments_;
  TracePlan plan_;
};

}  // namespace taskbench::cli
