// The pass of `taskbench run --counters`: after the timing, so that counting never disturbs it,
// each case is run again under perf, in fresh processes of this same program.
#pragma once

#include "cli/names.hpp"
#include "cli/options/run_plan.hpp"
#include "reports/model/run.hpp"

namespace taskbench::cli {

/// Fresh processes for each case: what one counts differs from the next one's.
inline constexpr int kCountingProcesses = 5;

/// Fills in run.counter_pass and the events of each case that was measured, with as many iterations
/// as in the timing pass. What cannot be counted is noted there; nothing throws.
void count_events(const RunPlan& plan, const std::stop_token& stop, model::Run& run);

}  // namespace taskbench::cli
