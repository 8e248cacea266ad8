// What a repetition cost besides time: scheduler counters and context switches.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>

#include "harness/os/names.hpp"
#include "reports/model/run.hpp"
#include "runtime/runtime.hpp"

namespace taskbench::harness {

/// A thread's counts in the scheduler of the kernel.
struct ThreadSchedule {
  std::int64_t ran_ns = 0;
  std::int64_t queued_ns = 0;  ///< runnable, and waiting for a CPU
};

/// The schedules of each thread of this process; empty if the kernel does not say.
[[nodiscard]] std::map<pid_t, ThreadSchedule> read_schedules();

/// How long all threads together waited for a CPU between two readings. Empty if unknown: threads
/// that used a CPU have ended, so the remaining ones did not use all of `cpu_ns`.
[[nodiscard]] std::optional<double> queued_between(const std::map<pid_t, ThreadSchedule>& before,
                                                   const std::map<pid_t, ThreadSchedule>& after,
                                                   double cpu_ns);

/// A reading of counters that only grow. Two readings around a repetition give its cost.
struct Usage {
  rt::WorkerCounters counters;  ///< of all workers and of the threads outside the pool
  long voluntary_switches = 0;  ///< of the whole process
  long involuntary_switches = 0;
  double cpu_ns = 0;

  [[nodiscard]] static Usage read(const rt::Runtime& runtime);
};

/// Fills in the counters and context switches of `repetition`, per iteration. Its `iterations` must
/// be set.
void store_usage(const Usage& before, const Usage& after, model::Repetition& repetition);

}  // namespace taskbench::harness
