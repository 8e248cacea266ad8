// `taskbench completion`: prints a shell's completion script.
#include <array>

#include "cli/commands/command.hpp"
#include "cli/output/output.hpp"

namespace taskbench::cli {
namespace {

struct Shell {
  std::string_view name;
  std::string_view script;
};

// Each script asks the program itself for candidates: see cli/options/completion.hpp.
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

class CompletionCommand final : public Command {
  void declare(Options& options) override {
    options.describe(
        "Print a completion script for a shell.\n\n"
        "It completes every command, option, workload, scheduler, parameter and format.",
        "Examples:\n"
        "  source <(taskbench completion bash)\n"
        "  taskbench completion zsh > ~/.zfunc/_taskbench      # a folder of $fpath\n"
        "  taskbench completion fish > ~/.config/fish/completions/taskbench.fish");
    options.value("SHELL", shell_, "SHELL", Choice<Shell>{"shell", kShells}, "bash, zsh or fish.")
        ->expected(0, 1);
  }

  ExitCode execute(const Invocation&) override {
    if (shell_ == nullptr) throw UsageError("completion: name a shell: bash, zsh or fish");
    return printed(shell_->script);
  }

  const Shell* shell_ = nullptr;
};

}  // namespace

std::unique_ptr<Command> completion_command() { return std::make_unique<CompletionCommand>(); }

}  // namespace taskbench::cli
