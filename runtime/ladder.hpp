// The ladder: the schedulers between tokio01 and work_stealing, each with one step more than the
// one before. `taskbench ladder` measures what each step gives. Not part of the installed library.
#pragma once

#include <span>
#include <string_view>

#include "runtime/schedulers.hpp"

namespace taskbench::rt {

/// A scheduler on the ladder.
struct Rung {
  const SchedulerInfo* scheduler;
  std::string_view step;  ///< what it has that the one before lacks, a few words; the first: itself
  bool is_ours = false;   ///< the step is not in "Making the Tokio scheduler 10x faster" (2019)
};

/// From tokio01 up to work_stealing.
[[nodiscard]] std::span<const Rung> ladder();

/// What a Builder may be given: schedulers(), then the rungs between.
[[nodiscard]] std::span<const SchedulerInfo> schedulers_and_rungs();

}  // namespace taskbench::rt
