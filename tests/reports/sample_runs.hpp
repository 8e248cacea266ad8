// Runs to write and render in tests: realistic and hostile ones.
#pragma once

#include <span>
#include <string_view>

#include "reports/model/run.hpp"

namespace taskbench::reports::samples {

/// Five workloads on one scheduler with two workers, nine repetitions each.
[[nodiscard]] model::Run complete_run();

/// Four workloads on work_stealing with one and two workers and on current_thread.
[[nodiscard]] model::Run several_schedulers_run();

/// Interrupted: three repetitions of the first case, two of the second, none of the third.
[[nodiscard]] model::Run partial_run();

/// One good case and one that failed in its verification.
[[nodiscard]] model::Run failed_run();

/// One repetition per case, so that there is no spread.
[[nodiscard]] model::Run single_repetition_run();

/// Everything that trips readers up: NaN and Infinity, counters named like Google Benchmark's keys,
/// invalid UTF-8, quotes, line breaks, nothing known about the machine.
[[nodiscard]] model::Run hostile_run();

/// A run without cases.
[[nodiscard]] model::Run empty_run();

/// With --counters: events that were counted, not counted, or extrapolated.
[[nodiscard]] model::Run counted_run();

/// With workloads that observe themselves.
[[nodiscard]] model::Run observed_run();

struct NamedRun {
  std::string_view name;
  model::Run (*make)();
};

[[nodiscard]] std::span<const NamedRun> all();

}  // namespace taskbench::reports::samples
