// The whole command line: finds the command, runs it, and turns every failure into a message and an
// exit code.
#pragma once

#include "cli/output/exit_code.hpp"
#include "cli/output/names.hpp"

namespace taskbench::cli {

/// Executes the command line in `argv`. Throws nothing.
[[nodiscard]] ExitCode run_command_line(int argc, const char* const* argv) noexcept;

}  // namespace taskbench::cli
