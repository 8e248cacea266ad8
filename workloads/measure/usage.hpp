// What a repetition cost besides time: scheduler counters and context switches.
#pragma once

#include "reports/model/run.hpp"
#include "runtime/runtime.hpp"

namespace taskbench::workloads::measure {

/// A reading of everything that only ever grows. Two of them, around a repetition, give its cost.
struct Usage {
  rt::WorkerCounters counters;  ///< of all workers and of the threads outside the pool
  long voluntary_switches = 0;  ///< of the whole process
  long involuntary_switches = 0;

  [[nodiscard]] static Usage read(const rt::Runtime& runtime);
};

/// Fills in the counters and context switches of `repetition`, per iteration; its `iterations` must
/// be set.
void store_usage(const Usage& before, const Usage& after, reports::model::Repetition& repetition);

}  // namespace taskbench::workloads::measure
