// Measures workloads on every rung of the ladder, block after block. A block is one process for
// each workload, which runs it on all rungs in a random order.
#pragma once

#include "harness/bench/measure.hpp"
#include "harness/programs/measured_process.hpp"
#include "harness/trials/journaled_trial.hpp"
#include "reports/model/ladder.hpp"

namespace taskbench::harness {

struct LadderPlan {
  std::vector<Case> cases;  ///< each workload on each of the ladder's rungs, from the lowest up
  double budget_s = 600;
  int max_blocks = 32;
  double timeout_s = kDefaultProcessTimeout_s;
};

/// Adds the workloads and their blocks to `ladder`, whose rungs and settings are given. It keeps no
/// journal. Throws UsageError and ProgramError.
[[nodiscard]] Ending climb(const LadderPlan& plan, const Listener& listener,
                           const std::stop_token& stop, model::Ladder& ladder);

}  // namespace taskbench::harness
