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
  void declare_selection(Options& options);
  void declare_measuring(Options& options);
  void declare_output(Options& options);

  RunArguments arguments_;
  bool list_ = false;
};

}  // namespace taskbench::cli
