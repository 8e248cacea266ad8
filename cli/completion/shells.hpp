// One function a shell, one source file each.
#pragma once

#include <string>

#include "cli/completion/command_tree.hpp"

namespace taskbench::cli::completion {

[[nodiscard]] std::string bash_script(const CommandTree& tree);
[[nodiscard]] std::string zsh_script(const CommandTree& tree);
[[nodiscard]] std::string fish_script(const CommandTree& tree);

}  // namespace taskbench::cli::completion
