#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/completion/shells.hpp"

namespace taskbench::cli::completion {
namespace {

// For a spec of _arguments inside single quotes: brackets and colons are its syntax.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += c;
    }
  }
  return result;
}

std::string action(const OptionValues& values) {
  const auto names = fmt::format("{}", fmt::join(values.names, " "));
  switch (values.kind) {
    case OptionValues::Kind::free:
      return " ";
    case OptionValues::Kind::file:
      return "_files";
    case OptionValues::Kind::one_of:
      return fmt::format("({})", names);
    case OptionValues::Kind::list_of:
      return fmt::format("_values -s , name {}", names);
    case OptionValues::Kind::assignment:
      return fmt::format("{{compadd -S = -- {}}}", names);
  }
  return " ";
}

std::string option_spec(const Option& option) {
  std::string value;
  if (option.takes_value) {
    value = fmt::format(":{}:{}", escaped(option.label), action(option.values));
  }
  const std::string_view equals = option.takes_value ? "=" : "";
  if (option.names.size() == 1) {
    return fmt::format("'{}{}{}[{}]{}'", option.repeatable ? "*" : "", option.names.front(), equals,
                       escaped(option.summary), value);
  }
  return fmt::format("'({})'{{{}}}'[{}]{}'", fmt::join(option.names, " "),
                     fmt::join(option.names, ","), escaped(option.summary), value);
}

std::string specs(const std::vector<Option>& options, const std::vector<Option>& arguments,
                  std::string_view indent) {
  std::vector<std::string> lines;
  for (const Option& option : options) lines.push_back(option_spec(option));
  for (const Option& argument : arguments) {
    lines.push_back(fmt::format("'{}:{}:{}'", argument.repeatable ? "*" : "1",
                                escaped(argument.label), action(argument.values)));
  }
  return fmt::format("{}", fmt::join(lines, fmt::format(" \\\n{}", indent)));
}

std::string described(const std::vector<Command>& commands, std::string_view indent) {
  std::string text;
  for (const Command& command : commands) {
    text += fmt::format("{}'{}:{}'\n", indent, command.name, escaped(command.summary));
  }
  return text;
}

// The command itself has options only: what follows it is a subcommand and that one's words.
std::string nested_case(const Command& command) {
  std::string text = fmt::format(
      "        {})\n          _arguments -C \\\n            {} \\\n"
      "            '1:command:->subcommand' \\\n            '*::argument:->subargument'\n"
      "          case $state in\n            subcommand)\n              local -a subcommands\n"
      "              subcommands=(\n{}              )\n"
      "              _describe command subcommands\n              ;;\n"
      "            subargument)\n              case $line[1] in\n",
      command.name, specs(command.options, {}, "            "),
      described(command.commands, "                "));
  constexpr std::string_view kIndent = "                    ";
  for (const Command& sub : command.commands) {
    text += fmt::format(
        "                {})\n                  _arguments \\\n{}{}\n                  ;;\n",
        sub.name, kIndent, specs(sub.options, sub.arguments, kIndent));
  }
  return text + "              esac\n              ;;\n          esac\n          ;;\n";
}

}  // namespace

std::string zsh_script(const CommandTree& tree) {
  std::string text = fmt::format(
      "#compdef {0}\n"
      "# zsh completion for {0}, printed by `{0} completion zsh`.\n\n"
      "_{0}() {{\n"
      "  local context state state_descr line\n"
      "  typeset -A opt_args\n"
      "  _arguments -C \\\n    {1} \\\n"
      "    '1:command:->command' \\\n    '*::argument:->argument'\n"
      "  case $state in\n    command)\n      local -a commands\n      commands=(\n",
      tree.program, specs(tree.options, {}, "    "));
  text += described(tree.commands, "        ");
  text +=
      "      )\n      _describe command commands\n      ;;\n"
      "    argument)\n      case $line[1] in\n";
  for (const Command& command : tree.commands) {
    if (!command.commands.empty()) {
      text += nested_case(command);
      continue;
    }
    text += fmt::format("        {})\n          _arguments \\\n            {}\n          ;;\n",
                        command.name, specs(command.options, command.arguments, "            "));
  }
  // Works both when it is autoloaded from $fpath and when it is sourced.
  text += fmt::format(
      "      esac\n      ;;\n  esac\n}}\n\n"
      "if [[ $funcstack[1] == _{0} ]]; then\n  _{0} \"$@\"\nelse\n  compdef _{0} {0}\nfi\n",
      tree.program);
  return text;
}

}  // namespace taskbench::cli::completion
