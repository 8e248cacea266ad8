// A command of taskbench, and the table of all of them.
#pragma once

#include <memory>

#include <CLI/CLI.hpp>

#include "cli/options/options.hpp"
#include "cli/output/exit_code.hpp"
#include "cli/output/names.hpp"

namespace taskbench::cli {

/// Exists from the declaration of its options until its execution has ended.
class Command {
 public:
  Command() = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  virtual ~Command() = default;

  /// Describes the command, with a summary as the first line, and adds the options, which are
  /// parsed into this command's own members.
  virtual void declare(Options& options) = 0;

  /// Called after the options have been parsed. Throws UsageError.
  [[nodiscard]] virtual ExitCode execute(const Invocation& invocation) = 0;
};

struct CommandEntry {
  std::string_view name;
  std::unique_ptr<Command> (*make)();
  std::span<const CommandEntry> commands{};  ///< its subcommands; if any, only they run
};

/// Each is defined in the file of its name, the baseline commands in baseline_*.cpp.
[[nodiscard]] std::unique_ptr<Command> run_command();
[[nodiscard]] std::unique_ptr<Command> ab_command();
[[nodiscard]] std::unique_ptr<Command> gate_command();
[[nodiscard]] std::unique_ptr<Command> calibrate_command();
[[nodiscard]] std::unique_ptr<Command> compare_command();
[[nodiscard]] std::unique_ptr<Command> ladder_command();
[[nodiscard]] std::unique_ptr<Command> report_command();
[[nodiscard]] std::unique_ptr<Command> doctor_command();
[[nodiscard]] std::unique_ptr<Command> profile_command();
[[nodiscard]] std::unique_ptr<Command> trace_command();
[[nodiscard]] std::unique_ptr<Command> list_command();
[[nodiscard]] std::unique_ptr<Command> completion_command();
[[nodiscard]] std::unique_ptr<Command> help_command();
[[nodiscard]] std::unique_ptr<Command> baseline_save_command();
[[nodiscard]] std::unique_ptr<Command> baseline_compare_command();
[[nodiscard]] std::unique_ptr<Command> baseline_list_command();
[[nodiscard]] std::unique_ptr<Command> baseline_show_command();
[[nodiscard]] std::unique_ptr<Command> baseline_promote_command();
[[nodiscard]] std::unique_ptr<Command> baseline_rm_command();

/// Every command, in the order of `--help`. To add one, add a row to table.cpp.
[[nodiscard]] std::span<const CommandEntry> all_commands();

}  // namespace taskbench::cli
