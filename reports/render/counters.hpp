// The counts of `taskbench run --counters` as text: perf's events next to the scheduler's counters,
// case by case.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/run.hpp"
#include "reports/render/document.hpp"
#include "reports/verdict/counter_move.hpp"

namespace taskbench::reports::render {

struct CounterTable {
  Table table;                       ///< a group for each case, with a row for each of its counters
  std::vector<std::string> missing;  ///< uncounted events with the reason, a sentence each
  std::vector<std::string> basis;    ///< the basis of the figures, as sentences
};

/// Empty if the run was not asked to count.
[[nodiscard]] std::optional<CounterTable> counter_table(const model::Run& run);

/// The name of a counter for readers; files keep the older "wakeups".
[[nodiscard]] std::string_view counter_label(std::string_view name);

/// "task-clock, ns"
[[nodiscard]] std::string event_label(const model::EventCount& event);

/// A clause that says what instructions-exact includes for a case: of a workload, or of a command.
[[nodiscard]] std::string exact_basis(const model::Case& measured);

/// "parks 1.00 → 2.00, instructions 1,234 → 2,345"
[[nodiscard]] std::string moved_text(const std::vector<verdict::CounterMove>& moves);

}  // namespace taskbench::reports::render
