// What becomes of the errors of a measurement: messages and exit codes.
#pragma once

#include "cli/output/exit_code.hpp"
#include "cli/output/names.hpp"
#include "harness/trials/journaled_trial.hpp"
#include "harness/trials/program.hpp"

namespace taskbench::cli {

/// Prints a ProgramError and returns its exit code. Throws UsageError for a command that cannot be
/// measured.
[[nodiscard]] ExitCode fail_measurement(const ProgramError& error);

/// Says that a trial was told to stop, if it was, and how to go on with it: "continue with …";
/// `first` is what it had not measured yet if it cannot.
[[nodiscard]] std::optional<ExitCode> interruption(Ending ending, std::string_view how_to_go_on,
                                                   std::string_view first);

}  // namespace taskbench::cli
