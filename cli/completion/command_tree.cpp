#include "cli/completion/command_tree.hpp"

namespace taskbench::cli::completion {
namespace {

// The first sentence or line, without its full stop.
std::string summary_of(const std::string& description) {
  std::string text = description.substr(0, description.find('\n'));
  text = text.substr(0, text.find(". "));
  if (text.ends_with('.')) text.pop_back();
  return text;
}

Option describe_option(const CLI::Option& option, const OptionValueTable& values) {
  Option result;
  for (const auto& name : option.get_lnames()) result.names.push_back("--" + name);
  for (const auto& name : option.get_snames()) result.names.push_back("-" + name);
  result.takes_value = option.get_items_expected_max() != 0;
  result.label = option.get_positional() ? option.get_name(true) : option.get_type_name();
  if (option.get_positional()) result.names.push_back(result.label);
  result.summary = summary_of(option.get_description());
  result.values = values.of(&option);
  result.repeatable = option.get_positional()
                          ? option.get_items_expected_max() > 1
                          : result.values.kind == OptionValues::Kind::assignment;
  return result;
}

void describe_options(const CLI::App& app, const OptionValueTable& values,
                      std::vector<Option>& options, std::vector<Option>& arguments) {
  for (const CLI::Option* option : app.get_options()) {
    (option->get_positional() ? arguments : options).push_back(describe_option(*option, values));
  }
}

std::vector<Command> describe_commands(const CLI::App& parent, const OptionValueTable& values) {
  std::vector<Command> commands;
  for (const CLI::App* app : parent.get_subcommands([](const CLI::App*) { return true; })) {
    Command command{app->get_name(), summary_of(app->get_description()), {}, {}, {}};
    describe_options(*app, values, command.options, command.arguments);
    command.commands = describe_commands(*app, values);
    commands.push_back(std::move(command));
  }
  return commands;
}

}  // namespace

std::vector<CommandPath> every_command(const CommandTree& tree) {
  std::vector<CommandPath> result;
  for (const Command& command : tree.commands) {
    result.push_back({command.name, &command});
    for (const Command& sub : command.commands) {
      result.push_back({command.name + '/' + sub.name, &sub});
    }
  }
  return result;
}

CommandTree describe(const CLI::App& root, const OptionValueTable& values) {
  CommandTree tree;
  tree.program = root.get_name();
  std::vector<Option> no_arguments;
  describe_options(root, values, tree.options, no_arguments);
  tree.commands = describe_commands(root, values);
  return tree;
}

}  // namespace taskbench::cli::completion
