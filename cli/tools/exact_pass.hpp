// The pass of `taskbench run --counters instructions-exact`: how many instructions an iteration
// takes, counted so that a noisy machine does not matter.
//
// Each case is run again under callgrind, on the scheduler in_turn where it was measured on
// work_stealing: one thread, its workers in turn from the seed, no clock. Counted is the function
// taskbench_iteration alone. What the kernel does for the program is not counted, nor what an
// instruction costs: a change here says that the program does more, not that it is slower.
#pragma once

#include "cli/names.hpp"
#include "cli/options/run_plan.hpp"
#include "reports/model/run.hpp"

namespace taskbench::cli {

/// Counts of each case, to see whether they agree.
inline constexpr int kExactCounts = 5;

/// Adds the event to each case that was measured. What cannot be counted is noted there; nothing
/// throws.
void count_exactly(const RunPlan& plan, const std::stop_token& stop, model::Run& run);

}  // namespace taskbench::cli
