#include "cli/commands/completion.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "cli/completion/command_tree.hpp"
#include "cli/completion/shells.hpp"
#include "cli/near_miss.hpp"
#include "cli/streams.hpp"
#include "cli/usage_error.hpp"
#include "cli/values.hpp"

namespace taskbench::cli {
namespace {

struct Shell {
  std::string_view name;
  std::string (*script)(const completion::CommandTree&);
};

constexpr std::array<Shell, 3> kShells{{
    {"bash", completion::bash_script},
    {"zsh", completion::zsh_script},
    {"fish", completion::fish_script},
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
      "The script knows every command, option, workload, scheduler, parameter and format.");
  app.footer(
      "Examples:\n"
      "  source <(taskbench completion bash)\n"
      "  taskbench completion zsh > ~/.zfunc/_taskbench      # a folder of $fpath\n"
      "  taskbench completion fish > ~/.config/fish/completions/taskbench.fish");
  auto* shell = app.add_option("SHELL", shell_, "bash, zsh or fish.")->expected(0, 1);
  values.set(shell, {OptionValues::Kind::one_of, row_names(kShells)});
}

ExitCode CompletionCommand::execute(const Invocation& invocation) {
  const auto name = parse_single("SHELL", shell_);
  if (!name) throw UsageError("completion: name a shell: bash, zsh or fish");
  const auto shell = std::ranges::find(kShells, *name, &Shell::name);
  if (shell == kShells.end()) throw UsageError(unknown_name("shell", *name, shell_names()));
  const auto tree = completion::describe(invocation.root, invocation.values);
  return print_result(shell->script(tree)) ? ExitCode::pass : ExitCode::usage;
}

}  // namespace taskbench::cli
