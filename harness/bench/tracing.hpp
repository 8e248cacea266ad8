// Runs a case with the runtime's tracer on.
#pragma once

#include <cstdint>

#include "harness/bench/measure.hpp"
#include "reports/model/trace.hpp"
#include "runtime/runtime.hpp"

namespace taskbench::harness {

struct TraceSettings {
  std::int64_t iterations = 1;
  std::int64_t warmup_iterations = 3;  ///< run before the trace, not in it
  std::uint32_t events = 1U << 18;     ///< kept for each worker
  std::uint64_t seed = 1;
};

struct TraceOutcome {
  model::Trace trace;  ///< has no iterations if there was no time for one
  bool interrupted = false;
  std::string error;  ///< how the workload failed; empty if it did not
};

/// Called on the calling thread before each iteration, including the warm-up, with the number of
/// finished iterations and of all.
using TraceProgress = std::function<void(std::int64_t done, std::int64_t all)>;

/// Traces a case. `stop` may be requested by a signal handler: the current iteration is finished. A
/// failing workload never makes it throw, but failing to build the runtime does, memory included.
[[nodiscard]] TraceOutcome trace_case(const Case& spec, const TraceSettings& settings,
                                      const TraceProgress& progress, const std::stop_token& stop);

/// The beginning and end of one iteration.
struct IterationTime {
  Clock::time_point begin;
  Clock::time_point end;
};

/// Turns events into slices. A slice that began before the first event of its row begins with the
/// row; an unfinished one ends with the trace.
[[nodiscard]] model::Trace to_model(const rt::Trace& recorded,
                                    const std::vector<IterationTime>& iterations);

}  // namespace taskbench::harness
