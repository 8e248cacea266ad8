// `taskbench help COMMAND`: prints the same as `taskbench COMMAND --help`.
#include <sstream>

#include "cli/commands/command.hpp"
#include "cli/options/help_format.hpp"
#include "cli/output/output.hpp"
#include "harness/files/near_miss.hpp"

namespace taskbench::cli {
namespace {

/// The help of `app` in the format for help2man, followed by that of its commands. Each command is
/// a section, in which no heading may have a meaning of its own; a dollar sign marks an example.
std::string all_help(const CLI::App& app, const std::string& name) {
  const bool is_root = app.get_parent() == nullptr;
  std::string text = is_root ? "" : fmt::format("*{}*\n\n", name);
  std::istringstream help(app.get_formatter()->make_help(&app, name, CLI::AppFormatMode::Normal));
  bool in_examples = false;
  for (std::string line; std::getline(help, line);) {
    if (line == "Examples:") {
      in_examples = true;
      line = is_root ? "Examples:\n" : "For example:\n";
    } else if (!is_root && (line == "Options:" || line.starts_with("  -h,--help"))) {
      continue;                                           // every command has --help
    } else if (in_examples && line.starts_with("   ")) {  // continues the previous line
      text.resize(text.find_last_not_of("\\ \n") + 1);
      line = line.substr(line.find_first_not_of(' ') - 1);
    } else if (in_examples && line.starts_with("  ")) {
      line.insert(2, "$ ");
    }
    text += line + '\n';
  }
  for (const CLI::App* each : commands_of(app)) {
    text += '\n' + all_help(*each, name + ' ' + each->get_name());
  }
  return text;
}

class HelpCommand final : public Command {
  void declare(Options& options) override {
    options.describe("Explain a command.",
                     "Examples:\n"
                     "  taskbench help run\n"
                     "  taskbench help baseline save");
    options.flag("--all", all_, "Explain all commands. The manual page is made from this.");
    options
        .value("COMMAND", path_, "COMMAND",
               AsGiven{{OptionValues::Kind::one_of, row_names(all_commands())}},
               "What to explain, as `taskbench COMMAND --help` does.")
        ->default_str("taskbench itself");
  }

  ExitCode execute(const Invocation& invocation) override {
    const CLI::App* app = &invocation.root;
    if (all_) return printed(all_help(*app, app->get_name()));
    std::string name = app->get_name();
    for (const std::string& word : path_) {
      const auto commands = commands_of(*app);
      const auto found = std::ranges::find(commands, word, &CLI::App::get_name);
      if (commands.empty()) {
        refuse("`{}` has no commands; '{}' is one too many", name, shortened(word));
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
  bool all_ = false;
};

}  // namespace

std::unique_ptr<Command> help_command() { return std::make_unique<HelpCommand>(); }

}  // namespace taskbench::cli
