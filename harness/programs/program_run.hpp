// Measures the benchmarks of another program in fresh processes, without judging them.
#pragma once

#include "harness/files/names.hpp"
#include "harness/programs/measured_process.hpp"
#include "reports/model/run.hpp"
#include "reports/model/sampling.hpp"

namespace taskbench::harness {

/// A program to measure, and how.
struct ProgramRun {
  std::string command;  ///< split as by split_command()
  std::string kind;     ///< as --kind said; empty: it is recognised
  int processes = kDefaultFreshProcesses;
  model::Sampling sampling{};  ///< of each process; iterations are found out
  double timeout_s = kDefaultProcessTimeout_s;
  /// The benchmarks to measure, of all, of which there is at least one. Throws UsageError.
  std::function<Strings(const Strings& names)> choose{};
};

/// Asks the program for its benchmarks, runs it once without counting the run, as for a baseline,
/// then measures the chosen ones in fresh processes. In the result, a repetition is a process: the
/// medians of its own. The environment is what the program says of itself; a benchmark that fails
/// in the first run has an error and no repetitions. If a stop is requested, or a process fails
/// after others were measured, the result is partial. Throws UsageError, and ProgramError for any
/// other failure.
[[nodiscard]] model::Run measure_program(const ProgramRun& plan, const Listener& listener,
                                         const std::stop_token& stop);

}  // namespace taskbench::harness
