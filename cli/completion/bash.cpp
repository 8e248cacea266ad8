#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/completion/shells.hpp"

namespace taskbench::cli::completion {
namespace {

// Readline breaks words at '=', so that "--format=t" arrives as three words; the script puts `prev`
// back to the option. compopt fails outside of an interactive completion, which is no harm.
constexpr std::string_view kHead = R"(# bash completion for {0}, printed by `{0} completion bash`.

_{0}_words() {{  # candidates
  COMPREPLY=($(compgen -W "$1" -- "$cur"))
}}

_{0}_list() {{  # candidates of a comma-separated list
  local begun=
  [[ $cur == *,* ]] && begun=${{cur%,*}},
  COMPREPLY=($(compgen -P "$begun" -W "$1" -- "${{cur##*,}}"))
}}

_{0}_assignment() {{  # names that '=' and a value follow
  compopt -o nospace 2>/dev/null
  COMPREPLY=($(compgen -S = -W "$1" -- "$cur"))
}}

_{0}_files() {{
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}}

_{0}() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD - 1]}} command= i
  COMPREPLY=()
  if [[ $cur == = ]]; then
    cur=
    [[ $prev == -* ]] || return
  elif [[ $prev == = ]]; then
    prev=${{COMP_WORDS[COMP_CWORD - 2]}}
    [[ $prev == -* ]] || return
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case $command:${{COMP_WORDS[i]}} in
{1}    esac
  done
  case $command:$prev in
)";

std::string completer(const std::string& program, const OptionValues& values) {
  const auto names = fmt::format("{}", fmt::join(values.names, " "));
  switch (values.kind) {
    case OptionValues::Kind::free:
      return ":";
    case OptionValues::Kind::file:
      return fmt::format("_{}_files", program);
    case OptionValues::Kind::one_of:
      return fmt::format("_{}_words '{}'", program, names);
    case OptionValues::Kind::list_of:
      return fmt::format("_{}_list '{}'", program, names);
    case OptionValues::Kind::assignment:
      return fmt::format("_{}_assignment '{}'", program, names);
  }
  return ":";
}

std::vector<std::string> names_of(const std::vector<Command>& commands) {
  std::vector<std::string> names;
  for (const Command& command : commands) names.push_back(command.name);
  return names;
}

// Where the words so far stand: "run", "baseline/save".
std::string path_cases(const CommandTree& tree) {
  std::string text;
  const auto add = [&](const std::string& from, const std::vector<Command>& commands,
                       std::string_view action) {
    std::vector<std::string> patterns;
    for (const Command& command : commands) patterns.push_back(from + ":" + command.name);
    text += fmt::format("      {}) {}${{COMP_WORDS[i]}} ;;\n", fmt::join(patterns, "|"), action);
  };
  add("", tree.commands, "command=");
  for (const Command& command : tree.commands) {
    if (!command.commands.empty()) add(command.name, command.commands, "command+=/");
  }
  return text;
}

std::string option_words(const std::vector<Option>& options) {
  std::vector<std::string> words;
  for (const Option& option : options) {
    words.insert(words.end(), option.names.begin(), option.names.end());
  }
  return fmt::format("{}", fmt::join(words, " "));
}

// What may stand after an option that takes a value.
std::string value_cases(const CommandTree& tree) {
  std::string text;
  for (const auto& [path, command] : every_command(tree)) {
    for (const Option& option : command->options) {
      if (!option.takes_value) continue;
      std::vector<std::string> patterns;
      for (const auto& name : option.names) patterns.push_back(path + ":" + name);
      text += fmt::format("    {}) {}; return ;;\n", fmt::join(patterns, "|"),
                          completer(tree.program, option.values));
    }
  }
  return text;
}

// Options where the word begins with a dash, else positional arguments.
std::string word_cases(const CommandTree& tree) {
  std::string text;
  for (const auto& [path, command] : every_command(tree)) {
    text += fmt::format("    {}:-*) _{}_words '{}' ;;\n", path, tree.program,
                        option_words(command->options));
    for (const Option& argument : command->arguments) {
      text += fmt::format("    {}:*) {} ;;\n", path, completer(tree.program, argument.values));
    }
    if (!command->commands.empty()) {
      text += fmt::format("    {}:*) _{}_words '{}' ;;\n", path, tree.program,
                          fmt::join(names_of(command->commands), " "));
    }
  }
  return fmt::format("{}    :-*) _{}_words '{}' ;;\n    :*) _{}_words '{}' ;;\n", text,
                     tree.program, option_words(tree.options), tree.program,
                     fmt::join(names_of(tree.commands), " "));
}

}  // namespace

std::string bash_script(const CommandTree& tree) {
  std::string text = fmt::format(kHead, tree.program, path_cases(tree));
  text += value_cases(tree);
  text += "  esac\n  case $command:$cur in\n";
  text += word_cases(tree);
  text += fmt::format("  esac\n}}\n\ncomplete -F _{0} {0}\n", tree.program);
  return text;
}

}  // namespace taskbench::cli::completion
