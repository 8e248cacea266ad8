// `taskbench baseline`: stored baselines. Its subcommands are commands like those above it.

#include <array>
#include <memory>

#include "cli/commands/command.hpp"

namespace taskbench::cli {
namespace {

constexpr std::array<CommandEntry, 6> kBaselineCommands{{
    {"save", baseline_save_command},
    {"compare", baseline_compare_command},
    {"list", baseline_list_command},
    {"show", baseline_show_command},
    {"promote", baseline_promote_command},
    {"rm", baseline_remove_command},
}};

class BaselineCommand final : public Command {
 public:
  void declare(Options& options) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  struct Declared {
    CLI::App* app;
    std::unique_ptr<Command> command;
  };

  std::vector<Declared> commands_;
};

void BaselineCommand::declare(Options& options) {
  options.app().description(
      "Keep what a program takes, and compare with it later.\n\n"
      "A baseline is of several fresh processes, with a canary between them that tells a slower "
      "program from a slower machine. It is good for the machine and the build that it was "
      "measured on. The first one of a name stays as the anchor, so that a slow drift shows.");
  options.app().footer(
      "Examples:\n"
      "  taskbench baseline save\n"
      "  taskbench baseline compare\n"
      "  taskbench baseline save release --program 'build/taskbench --workers 2'\n"
      "  taskbench baseline list\n\n"
      "Exit status: 0 pass, 1 slower, 2 usage or input error, 3 inconclusive, 4 another machine or "
      "build, or the machine is not as it was, 5 the program failed, 130 interrupted.");
  options.app().require_subcommand(0, 1);
  for (const CommandEntry& entry : kBaselineCommands) {
    auto* sub = options.app().add_subcommand(std::string(entry.name));
    sub->group("Commands");
    auto command = entry.make();
    Options of_sub = options.of(*sub);
    command->declare(of_sub);
    commands_.push_back({sub, std::move(command)});
  }
}

ExitCode BaselineCommand::execute(const Invocation& invocation) {
  for (const auto& [app, command] : commands_) {
    if (app->parsed()) return command->execute(invocation);
  }
  throw UsageError("baseline: name a command");  // not reached: CommandLine has asked for one
}

}  // namespace

std::unique_ptr<Command> baseline_command() { return std::make_unique<BaselineCommand>(); }

}  // namespace taskbench::cli
