// The pass of `taskbench run --counters`: after the timing, so that counting never disturbs it,
// each case is run again in fresh processes of this same program, under perf or callgrind.
//
// instructions-exact is the number of instructions of an iteration, counted so that a noisy machine
// does not matter: under callgrind, and for cases measured on work_stealing on the scheduler
// in_turn: one thread, its workers in turn from the seed, no clock. Only the function
// taskbench_iteration is counted. The count includes neither what the kernel does for the program
// nor what an instruction costs: a change says that the program does more, not that it is slower.
#pragma once

#include "harness/trials/names.hpp"
#include "harness/trials/run_plan.hpp"
#include "reports/model/run.hpp"

namespace taskbench::harness {

/// Fresh processes for each case: counts may differ from one process to the next.
inline constexpr int kCountingProcesses = 5;

/// The command that runs one case again, with one repetition, as the plan says; `min_time_s` is for
/// the repetition and its warm-up. The result goes to the file `result`.
[[nodiscard]] Strings case_command(const RunPlan& plan, const Case& spec, double min_time_s,
                                   const fs::path& result);

/// A program that counts is not installed; what() names the package that provides it.
struct ToolMissing : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Checks, before anything is measured, what --counters asks for. Throws ToolMissing, and
/// UsageError for an event that perf does not know. What a machine cannot count, or does not permit
/// to be counted, is left to count_events().
void check_counters(const CounterPlan& plan, const std::stop_token& stop);

/// Fills in run.counter_pass and the events of each case that was measured, including why something
/// cannot be counted. Does not throw.
void count_events(const RunPlan& plan, const std::stop_token& stop, const Listener& listener,
                  model::Run& run);

}  // namespace taskbench::harness
