// `taskbench calibrate`: how small a difference is noise on this machine.
#pragma once

#include <string>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/process_options.hpp"

namespace taskbench::cli {

/// What the user wrote, option by option, not yet understood.
struct CalibrateArguments {
  std::vector<std::string> copies;
  std::vector<std::string> workloads;
  std::vector<std::string> budget;
  std::vector<std::string> trials;
  std::vector<std::string> blocks;
  ProcessOptions process;
  std::vector<std::string> store;
  std::vector<std::string> journal;
  bool trusted = false;
  bool resume = false;
  bool quiet = false;
};

class CalibrateCommand final : public Command {
 public:
  void declare(CLI::App& app, OptionValueTable& values) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  CalibrateArguments arguments_;
};

}  // namespace taskbench::cli
