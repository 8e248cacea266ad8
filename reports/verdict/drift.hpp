// Whether the machine moved while something was measured. Pure functions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "reports/model/drift.hpp"
#include "reports/model/paired.hpp"

namespace taskbench::reports::verdict {

// Thresholds above which a run gets a warning.
inline constexpr double kMovedStolenShare = 0.01;
inline constexpr double kMovedOthersShare = 0.05;
inline constexpr double kMovedMhzShare = 0.05;  ///< of the rate before

/// Something that moved by more than its threshold. Throttling and swapping have no threshold: once
/// is enough.
struct Movement {
  std::string quantity;  ///< as in the JSON: "stolen_share"
  std::string text;      ///< "3.1 % of the CPU time was stolen by the hypervisor (above 1 %)"
};

/// Everything that moved, in the order of the model's fields. Unknown values have not moved.
[[nodiscard]] std::vector<Movement> movements(const model::Drift& drift);

/// A warning on one line; empty if nothing moved.
[[nodiscard]] std::string drift_warning(const model::Drift& drift);

/// The drift over all processes that it was recorded for; without the clock rate, which is not
/// recorded.
[[nodiscard]] model::Drift drift_over(std::span<const model::ProcessSample> samples);

}  // namespace taskbench::reports::verdict
