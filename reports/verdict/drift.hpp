// Whether the machine moved while something was measured. Pure functions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "reports/model/drift.hpp"
#include "reports/model/paired.hpp"

namespace taskbench::reports::verdict {

// From where on a run is worth a warning.
inline constexpr double kMovedStolenShare = 0.01;
inline constexpr double kMovedOthersShare = 0.05;
inline constexpr double kMovedMhzShare = 0.05;  ///< of the rate before

/// Something that moved by more than its threshold. Throttling and swapping have none: once is
/// enough.
struct Movement {
  std::string quantity;  ///< as in the JSON: "stolen_share"
  std::string text;      ///< "3.1 % of the CPU time was stolen by the hypervisor (above 1 %)"
};

/// In the order of the model's fields. What is unknown has not moved.
[[nodiscard]] std::vector<Movement> movements(const model::Drift& drift);

/// One line; empty when nothing moved.
[[nodiscard]] std::string drift_warning(const model::Drift& drift);

/// Over all processes that it was recorded for; the clock rate is not.
[[nodiscard]] model::Drift drift_over(std::span<const model::ProcessSample> samples);

}  // namespace taskbench::reports::verdict
