// Preconditions of the functions in this folder. A violation is a mistake of the caller:
// std::invalid_argument, whose text names the statistic.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>
#include <string>

namespace taskbench::reports::stats {

inline void require(bool condition, const std::string& otherwise) {
  if (!condition) throw std::invalid_argument(otherwise);
}

/// Requires at least one value, and none that is infinite or NaN.
inline void require_finite(std::span<const double> values, const std::string& statistic) {
  require(!values.empty(), statistic + " of no values");
  require(
      std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); }),
      statistic + " of values that are not finite");
}

/// Requires a value strictly between 0 and 1: an error probability, or a level of confidence.
inline void require_fraction(double value, const std::string& name) {
  require(value > 0 && value < 1, name + " must lie between 0 and 1");
}

}  // namespace taskbench::reports::stats
