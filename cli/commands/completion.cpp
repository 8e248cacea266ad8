#include "cli/commands/completion.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "cli/near_miss.hpp"
#include "cli/streams.hpp"
#include "cli/usage_error.hpp"
#include "cli/values.hpp"

namespace taskbench::cli {
namespace {

struct Shell {
  std::string_view name;
  std::string_view script;
};

// Each asks the program itself what can stand next: cli/completion.hpp says how it answers.
constexpr std::array<Shell, 3> kShells{{
    {"bash", R"(# bash completion for taskbench, printed by `taskbench completion bash`.

_taskbench() {  # Readline parts words at '=', too
  local word=${COMP_WORDS[COMP_CWORD]}
  mapfile -t COMPREPLY < <("${1/#\~/$HOME}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [[ ${COMPREPLY[0]-} == :files ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "${word#=}")
  elif [[ ${COMPREPLY[0]-} == *= ]]; then
    compopt -o nospace 2>/dev/null
  fi
  COMPREPLY=("${COMPREPLY[@]%%$'\t'*}")
}

complete -F _taskbench taskbench
)"},
    {"zsh", R"(#compdef taskbench
# zsh completion for taskbench, printed by `taskbench completion zsh`.

_taskbench() {
  local line program=${(Q)words[1]/#\~/$HOME}
  local -a described
  for line in "${(@f)$($program __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      :files) compset -P '--*='; _files; return ;;
      *=) compadd -S '' -- "$line" ;;
      ?*$'\t'*) described+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
      ?*) compadd -- "$line" ;;
    esac
  done
  (( $#described )) && _describe word described
}

# Works both when it is autoloaded from $fpath and when it is sourced.
if [[ $funcstack[1] == _taskbench ]]; then
  _taskbench "$@"
else
  compdef _taskbench taskbench
fi
)"},
    {"fish", R"(# fish completion for taskbench, printed by `taskbench completion fish`.

function __taskbench_complete
    set -l words (commandline -opc)
    set -l program (string replace -r '^~' $HOME -- $words[1])
    set -e words[1]
    set -l word (commandline -ct)
    set -l found ($program __complete $words "$word" 2>/dev/null)
    if test "$found" = :files
        set -l option (string match -r '^--[^=]*=' -- "$word")
        set found "$option"(__fish_complete_path (string replace -r '^--[^=]*=' '' -- "$word"))
    end
    printf '%s\n' $found
end

complete -c taskbench -f -a '(__taskbench_complete)'
)"},
}};

std::vector<std::string_view> shell_names() {
  std::vector<std::string_view> names;
  for (const Shell& shell : kShells) names.push_back(shell.name);
  return names;
}

}  // namespace

void CompletionCommand::declare(CLI::App& app, OptionValueTable& values) {
  app.description(
      "Print a completion script for a shell.\n\n"
      "It completes every command, option, workload, scheduler, parameter and format.");
  app.footer(
      "Examples:\n"
      "  source <(taskbench completion bash)\n"
      "  taskbench completion zsh > ~/.zfunc/_taskbench      # a folder of $fpath\n"
      "  taskbench completion fish > ~/.config/fish/completions/taskbench.fish");
  auto* shell = app.add_option("SHELL", shell_, "bash, zsh or fish.")->expected(0, 1);
  values.set(shell, {OptionValues::Kind::one_of, row_names(kShells)});
}

ExitCode CompletionCommand::execute(const Invocation&) {
  const auto name = parse_single("SHELL", shell_);
  if (!name) throw UsageError("completion: name a shell: bash, zsh or fish");
  const auto shell = std::ranges::find(kShells, *name, &Shell::name);
  if (shell == kShells.end()) throw UsageError(unknown_name("shell", *name, shell_names()));
  return print_result(shell->script) ? ExitCode::pass : ExitCode::usage;
}

}  // namespace taskbench::cli
