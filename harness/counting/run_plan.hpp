// The plan of `taskbench run`.
#pragma once

#include "harness/bench/command_bench.hpp"
#include "harness/bench/measure.hpp"
#include "harness/counting/counter_events.hpp"
#include "harness/files/names.hpp"
#include "harness/programs/program_run.hpp"
#include "runtime/trace/planted_delay.hpp"

namespace taskbench::harness {

/// A delay in the scheduler, in builds that can plant one.
struct PlantedDelay {
  rt::DelaySite site;
  double ns = 0;
};

/// All that a run measures.
struct RunPlan {
  std::vector<Case> cases;
  std::vector<TimedCommand> commands;   ///< in place of cases
  std::optional<ProgramRun> program{};  ///< in place of both, with settings of its own
  Settings settings;
  Strings left_out;  ///< impossible combinations, in words
  std::vector<PlantedDelay> planted;
  CounterPlan counters;  ///< counted in passes after the timing
  bool quiet = false;
};

}  // namespace taskbench::harness
