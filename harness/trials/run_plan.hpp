// The plan of a run of this taskbench.
#pragma once

#include "harness/bench/command_bench.hpp"
#include "harness/bench/measure.hpp"
#include "harness/trials/counter_events.hpp"
#include "harness/trials/names.hpp"
#include "runtime/trace/planted_delay.hpp"

namespace taskbench::harness {

/// A delay in the scheduler, in builds that can plant one.
struct PlantedDelay {
  rt::DelaySite site;
  double ns = 0;
};

/// All that a run of this taskbench measures.
struct RunPlan {
  std::vector<Case> cases;
  std::vector<TimedCommand> commands;  ///< in place of cases
  Settings settings;
  Strings left_out;  ///< impossible combinations, in words
  std::vector<PlantedDelay> planted;
  CounterPlan counters;  ///< counted in passes after the timing
  bool quiet = false;
};

}  // namespace taskbench::harness
