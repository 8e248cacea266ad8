#include <array>

#include "cli/commands/command.hpp"

namespace taskbench::cli {
namespace {

class BaselineCommand final : public Command {
  void declare(Options& options) override {
    options.describe(
        "Keep what a program takes, and compare with it later.\n\n"
        "A baseline consists of several fresh processes, with a canary between them that tells a "
        "slower program from a slower machine. It is good for the machine and the build that it "
        "was measured on. The first one of a name stays as the anchor, so that slow drift shows.",
        "Examples:\n"
        "  taskbench baseline save\n"
        "  taskbench baseline compare\n"
        "  taskbench baseline save release --program 'build/taskbench --workers 2'\n"
        "  taskbench baseline list\n\n"
        "Exit status: 0 pass, 1 slower, 2 usage or input error, 3 inconclusive, 4 another machine "
        "or build, or the machine has changed, 5 the program failed, 130 interrupted.");
  }

  ExitCode execute(const Invocation&) override { return ExitCode::usage; }  // never called
};

std::unique_ptr<Command> baseline_command() { return std::make_unique<BaselineCommand>(); }

constexpr std::array<CommandEntry, 6> kBaselineCommands{{
    {"save", baseline_save_command},
    {"compare", baseline_compare_command},
    {"list", baseline_list_command},
    {"show", baseline_show_command},
    {"promote", baseline_promote_command},
    {"rm", baseline_rm_command},
}};

constexpr std::array<CommandEntry, 14> kAllCommands{{
    {"run", run_command},
    {"ab", ab_command},
    {"gate", gate_command},
    {"baseline", baseline_command, kBaselineCommands},
    {"calibrate", calibrate_command},
    {"compare", compare_command},
    {"ladder", ladder_command},
    {"report", report_command},
    {"doctor", doctor_command},
    {"profile", profile_command},
    {"trace", trace_command},
    {"list", list_command},
    {"completion", completion_command},
    {"help", help_command},
}};

}  // namespace

std::span<const CommandEntry> all_commands() { return kAllCommands; }

}  // namespace taskbench::cli
