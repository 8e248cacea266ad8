// `taskbench baseline save` and `compare`: those that run a program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/process_options.hpp"
#include "cli/verdict_options.hpp"
#include "cli/verdict_output.hpp"

namespace taskbench::cli {

/// What the user wrote, option by option, not yet understood.
struct BaselineArguments {
  std::vector<std::string> name;
  std::vector<std::string> store;
  std::vector<std::string> program;
  std::vector<std::string> processes;
  ProcessOptions process;
  bool allow_busy = false;
};

/// Declares --allow-busy: to do `what` on a busy machine as well.
void declare_allow_busy(CLI::App& app, bool& given, std::string_view what);

struct BaselineSaveArguments : BaselineArguments {
  std::vector<std::string> workloads;
  std::vector<std::string> journal;
  bool resume = false;
  bool quiet = false;
};

class BaselineSaveCommand final : public Command {
 public:
  void declare(CLI::App& app, OptionValueTable& values) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  BaselineSaveArguments arguments_;
};

class BaselineCompareCommand final : public Command {
 public:
  BaselineCompareCommand();

  void declare(CLI::App& app, OptionValueTable& values) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  BaselineArguments arguments_;
  VerdictOptions verdict_;
  VerdictOutputOptions output_;
};

}  // namespace taskbench::cli
