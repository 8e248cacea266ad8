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
    const std::string condition = "__fish_seen_subcommand_from " + command.name;
    for (const Option& option : command.options) {
      text += option_line(tree.program, condition, option);
    }
    for (const Option& argument : command.arguments) {
      text += fmt::format("complete -c {} -n {} -a {} -d {}\n", tree.program, quoted(condition),
                          quoted(fmt::format("{}", fmt::join(argument.values.names, " "))),
                          quoted(argument.label));
    }
  }
  return text;
}

}  // namespace taskbench::cli::completion
