// `taskbench help COMMAND`: the same as `taskbench COMMAND --help`.
#include <algorithm>

#include "cli/commands/command.hpp"
#include "cli/options/help_format.hpp"
#include "cli/output/output.hpp"

namespace taskbench::cli {
namespace {

class HelpCommand final : public Command {
  void declare(Options& options) override {
    options.describe("Explain a command.",
                     "Examples:\n"
                     "  taskbench help run\n"
                     "  taskbench help baseline save");
    options
        .value("COMMAND", path_, "COMMAND",
               AsGiven{{OptionValues::Kind::one_of, row_names(all_commands())}},
               "What to explain, as `taskbench COMMAND --help` does.")
        ->default_str("taskbench itself");
  }

  ExitCode execute(const Invocation& invocation) override {
    const CLI::App* app = &invocation.root;
    std::string name = app->get_name();
    for (const std::string& word : path_) {
      const auto commands = commands_of(*app);
      const auto found = std::ranges::find(commands, word, &CLI::App::get_name);
      if (commands.empty()) {
        throw UsageError(
            fmt::format("`{}` has no commands; '{}' is one too many", name, shortened(word)));
      }
      if (found == commands.end()) {
        throw UsageError(unknown_name("command", word, command_names(*app)));
      }
      app = *found;
      name += ' ' + word;
    }
    return printed(app->get_formatter()->make_help(app, name, CLI::AppFormatMode::Normal));
  }

  Strings path_;
};

}  // namespace

std::unique_ptr<Command> help_command() { return std::make_unique<HelpCommand>(); }

}  // namespace taskbench::cli
