// `taskbench run`: measures workloads, prints the result, writes it to files.
#pragma once

#include "cli/commands/command.hpp"
#include "cli/run_plan.hpp"

namespace taskbench::cli {

class RunCommand : public Command {
 public:
  void declare(CLI::App& app, OptionValueTable& values) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  void declare_selection(CLI::App& app, OptionValueTable& values);
  void declare_measuring(CLI::App& app, OptionValueTable& values);
  void declare_counters(CLI::App& app, OptionValueTable& values);
  void declare_output(CLI::App& app, OptionValueTable& values);

  RunArguments arguments_;
};

}  // namespace taskbench::cli
