// `taskbench profile`: where the time of a workload goes, by sampling with perf.
#pragma once

#include <filesystem>

#include "cli/commands/command.hpp"
#include "cli/run_plan.hpp"

namespace taskbench::cli {

struct ProfilePlan {
  RunPlan run;
  unsigned cpus = 1;
  std::filesystem::path folded;
  std::filesystem::path svg;
  unsigned frequency = 997;  ///< a prime: not in step with what the program does
  double duration_s = 2;
};

class ProfileCommand final : public Command {
 public:
  void declare(CLI::App& app, OptionValueTable& values) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  [[nodiscard]] ProfilePlan plan() const;

  RunArguments arguments_;
  ProfilePlan plan_;
  std::filesystem::path folder_ = "taskbench-profile";
};

}  // namespace taskbench::cli
