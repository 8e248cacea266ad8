// Summaries of the floor: how long the least takes. Pure functions.
#pragma once

#include <optional>

#include "reports/model/doctor.hpp"

namespace taskbench::reports::stats {

/// In ns. One sample has no spread.
struct FloorSummary {
  double median = 0;
  double min = 0;
  std::optional<double> lower_quartile;
  std::optional<double> upper_quartile;
  std::optional<double> p99;  ///< of a hundred samples and more
};

/// Empty when there are no samples, or one that is no finite number.
[[nodiscard]] std::optional<FloorSummary> summarize(const model::FloorFigure& figure);

}  // namespace taskbench::reports::stats
