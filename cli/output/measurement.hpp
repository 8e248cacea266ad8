// What becomes of the errors of a measurement: messages and exit codes.
#pragma once

#include "cli/output/exit_code.hpp"
#include "cli/output/names.hpp"
#include "harness/trials/program.hpp"

namespace taskbench::cli {

/// A ProgramError on standard error, and the exit code; throws UsageError for a command that cannot
/// be measured.
[[nodiscard]] ExitCode fail_measurement(const harness::ProgramError& error);

/// What a command that measures programs makes of what `work` throws, which returns an exit code.
/// Once `stop` is requested, every failure is an interruption, which `interrupted` reports; else
/// `failed` reports a ProgramError. Errors of usage are thrown on.
template <class Work, class Interrupted, class Failed>
[[nodiscard]] ExitCode run_measurement(const std::stop_token& stop, const Work& work,
                                       const Interrupted& interrupted, const Failed& failed) {
  try {
    return work();
  } catch (const UsageError&) {
    if (!stop.stop_requested()) throw;
  } catch (const harness::ProgramError& error) {
    if (!stop.stop_requested()) return failed(error);
  }
  return interrupted();
}

}  // namespace taskbench::cli
