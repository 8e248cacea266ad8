#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/completion/shells.hpp"

namespace taskbench::cli::completion {
namespace {

// Inside single quotes fish knows two escapes.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

// -x: a value and no file names; -r -F: a value that is a file.
std::string value_flags(const OptionValues& values) {
  const auto names = fmt::format("{}", fmt::join(values.names, " "));
  switch (values.kind) {
    case OptionValues::Kind::free:
      return " -x";
    case OptionValues::Kind::file:
      return " -r -F";
    case OptionValues::Kind::one_of:
      return fmt::format(" -x -a {}", quoted(names));
    case OptionValues::Kind::list_of:
      return fmt::format(" -x -a {}", quoted(fmt::format("(__fish_append , {})", names)));
    case OptionValues::Kind::assignment:
      return fmt::format(" -x -a {}", quoted(fmt::format("{}=", fmt::join(values.names, "= "))));
  }
  return {};
}

std::string option_line(const std::string& program, const std::string& condition,
                        const Option& option) {
  std::string flags;
  for (const auto& name : option.names) {
    flags += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (option.takes_value) flags += value_flags(option.values);
  return fmt::format("complete -c {} -n {}{} -d {}\n", program, quoted(condition), flags,
                     quoted(option.summary));
}

std::string names_text(const std::vector<Command>& commands) {
  std::vector<std::string> names;
  for (const Command& command : commands) names.push_back(command.name);
  return fmt::format("{}", fmt::join(names, " "));
}

// fish knows only which words were seen, so "list" may be a command or another's subcommand.
std::string condition_of(const CommandTree& tree, const Command& command) {
  std::string condition = "__fish_seen_subcommand_from " + command.name;
  for (const Command& other : tree.commands) {
    for (const Command& sub : other.commands) {
      if (sub.name == command.name) {
        condition += "; and not __fish_seen_subcommand_from " + other.name;
      }
    }
  }
  return condition;
}

std::string command_lines(const std::string& program, const std::string& condition,
                          const Command& command) {
  std::string text;
  for (const Option& option : command.options) text += option_line(program, condition, option);
  for (const Option& argument : command.arguments) {
    text += fmt::format("complete -c {} -n {} -a {} -d {}\n", program, quoted(condition),
                        quoted(fmt::format("{}", fmt::join(argument.values.names, " "))),
                        quoted(argument.label));
  }
  return text;
}

}  // namespace

std::string fish_script(const CommandTree& tree) {
  std::string text = fmt::format(
      "# fish completion for {0}, printed by `{0} completion fish`.\n\ncomplete -c {0} -f\n",
      tree.program);
  for (const Option& option : tree.options) {
    text += option_line(tree.program, "__fish_use_subcommand", option);
  }
  for (const Command& command : tree.commands) {
    text += fmt::format("complete -c {} -n '__fish_use_subcommand' -a {} -d {}\n", tree.program,
                        command.name, quoted(command.summary));
  }
  for (const Command& command : tree.commands) {
    text += command_lines(tree.program, condition_of(tree, command), command);
    const std::string seen = "__fish_seen_subcommand_from " + command.name;
    for (const Command& sub : command.commands) {
      text += fmt::format("complete -c {} -n {} -a {} -d {}\n", tree.program,
                          quoted(fmt::format("{}; and not __fish_seen_subcommand_from {}", seen,
                                             names_text(command.commands))),
                          sub.name, quoted(sub.summary));
      text += command_lines(
          tree.program, fmt::format("{}; and __fish_seen_subcommand_from {}", seen, sub.name), sub);
    }
  }
  return text;
}

}  // namespace taskbench::cli::completion
