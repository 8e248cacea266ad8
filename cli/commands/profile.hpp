// `taskbench profile`: where the time of a workload goes, by sampling with perf.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/run_plan.hpp"

namespace taskbench::cli {

class ProfileCommand final : public Command {
 public:
  void declare(CLI::App& app, OptionValueTable& values) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  struct Plan;

  [[nodiscard]] Plan plan() const;
  static void refuse_too_much(const Plan& plan, const std::filesystem::path& folder);

  RunArguments arguments_;
  std::vector<std::string> workload_;
  std::vector<std::string> out_;
  std::vector<std::string> frequency_;
  std::vector<std::string> duration_;
};

}  // namespace taskbench::cli
