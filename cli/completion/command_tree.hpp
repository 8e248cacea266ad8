// The commands and options as the completion scripts need them, read off the parser itself, so
// that a script cannot know another command line than the program.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/option_values.hpp"

namespace taskbench::cli::completion {

struct Option {
  std::vector<std::string> names;  ///< "--json", "-h"; of a positional argument its label
  std::string label;               ///< of the value: "FILE"
  std::string summary;             ///< one short sentence without its full stop
  bool takes_value = false;
  bool repeatable = false;
  OptionValues values;
};

struct Command {
  std::string name;
  std::string summary;
  std::vector<Option> options;
  std::vector<Option> arguments;  ///< positional
  std::vector<Command> commands;  ///< its subcommands; at most one floor of them
};

struct CommandTree {
  std::string program;
  std::vector<Option> options;
  std::vector<Command> commands;
};

/// A command with the words that lead to it.
struct CommandPath {
  std::string path;  ///< "run", "baseline/save"
  const Command* command;
};

/// Every command and subcommand, each before its own. They point into `tree`.
[[nodiscard]] std::vector<CommandPath> every_command(const CommandTree& tree);

[[nodiscard]] CommandTree describe(const CLI::App& root, const OptionValueTable& values);

}  // namespace taskbench::cli::completion
