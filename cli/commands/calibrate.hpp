// `taskbench calibrate`: how small a difference is noise on this machine.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/baseline_store.hpp"
#include "cli/commands/command.hpp"
#include "cli/process_options.hpp"

namespace taskbench::cli {

struct CalibratePlan {
  CalibratePlan() { setup.max_blocks = 8; }

  std::vector<std::string> copies;
  std::vector<std::string> workloads;
  reports::model::PairedSetup setup;  ///< what all trials have in common
  double budget_s = 600;
  bool own_budget = false;  ///< named by the user, and so not that of the journal
  double timeout_s = kDefaultProcessTimeout_s;
  std::optional<int> trials;
  std::filesystem::path store{kDefaultStore};
  std::filesystem::path journal{
      "taskbench-calibrate.journal"};  ///< a folder: a file for each trial
  bool own_journal = false;            ///< named by the user, and so kept
  bool trusted = false;                ///< the user says that they are copies
  bool quiet = false;
};

class CalibrateCommand final : public Command {
 public:
  void declare(CLI::App& app, OptionValueTable& values) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  CalibratePlan plan_;
  ProcessOptions process_;
  const CLI::Option* budget_option_ = nullptr;
  const CLI::Option* journal_option_ = nullptr;
  bool resume_ = false;
};

}  // namespace taskbench::cli
