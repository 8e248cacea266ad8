// The pass of `taskbench run --counters`: after the timing, so that counting never disturbs it,
// each case is run again in fresh processes of this same program, under perf or callgrind.
//
// instructions-exact is the number of instructions per iteration, counted so that a noisy machine
// does not matter: under callgrind, and with cases measured on work_stealing moved to the scheduler
// in_turn (one thread, workers in turn from the seed, no clock). Only the function
// taskbench_iteration is counted. The count includes neither what the kernel does for the program
// nor what an instruction costs: a change says that the program does more, not that it is slower.
#pragma once

#include "harness/counting/run_plan.hpp"
#include "harness/files/names.hpp"
#include "reports/model/run.hpp"

namespace taskbench::harness {

/// Fresh processes for each case: counts may differ from one process to the next.
inline constexpr int kCountingProcesses = 5;

/// The command that runs one case again as the plan says, with one repetition; `min_time_s` applies
/// to the repetition and its warm-up. The result goes to the file `result`.
[[nodiscard]] Strings case_command(const RunPlan& plan, const Case& spec, double min_time_s,
                                   const fs::path& result);

/// A counting program is not installed; what() names the package that provides it.
struct ToolMissing : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Checks the value of --counters before anything is measured. Throws ToolMissing, and UsageError
/// for an event that perf does not know. count_events() deals with events that the machine cannot
/// count or does not permit to be counted.
void check_counters(const CounterPlan& plan, const std::stop_token& stop);

/// Fills in run.counter_pass and the events of each measured case, with the reason for each event
/// that cannot be counted. Does not throw.
void count_events(const RunPlan& plan, const std::stop_token& stop, const Listener& listener,
                  model::Run& run);

}  // namespace taskbench::harness
