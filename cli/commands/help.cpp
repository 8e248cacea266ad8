// `taskbench help COMMAND`: the same as `taskbench COMMAND --help`.

#include <algorithm>

#include "cli/commands/command.hpp"
#include "cli/options/help_format.hpp"
#include "cli/options/options.hpp"
#include "cli/output/streams.hpp"

namespace taskbench::cli {

namespace {

class HelpCommand : public Command {
 public:
  void declare(Options& options) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  Strings path_;
};

void HelpCommand::declare(Options& options) {
  options.app().description("Explain a command.");
  options.app().footer(
      "Examples:\n"
      "  taskbench help run\n"
      "  taskbench help baseline save");
  options
      .value("COMMAND", path_, "COMMAND",
             AsGiven{{OptionValues::Kind::one_of, row_names(all_commands())}},
             "What to explain, as `taskbench COMMAND --help` does.")
      ->default_str("taskbench itself");
}

ExitCode HelpCommand::execute(const Invocation& invocation) {
  const CLI::App* app = &invocation.root;
  std::string name = app->get_name();
  for (const std::string& word : path_) {
    const auto commands = commands_of(*app);
    const auto found = std::ranges::find(commands, word, &CLI::App::get_name);
    if (found == commands.end()) {
      if (commands.empty()) {
        throw UsageError(
            fmt::format("`{}` has no commands; '{}' is one too many", name, shortened(word)));
      }
      std::vector<std::string_view> names;
      for (const CLI::App* each : commands) names.push_back(each->get_name());
      throw UsageError(unknown_name("command", word, names));
    }
    app = *found;
    name += ' ' + word;
  }
  const std::string text = app->get_formatter()->make_help(app, name, CLI::AppFormatMode::Normal);
  return print_result(text) ? ExitCode::pass : ExitCode::usage;
}

}  // namespace

std::unique_ptr<Command> help_command() { return std::make_unique<HelpCommand>(); }

}  // namespace taskbench::cli
