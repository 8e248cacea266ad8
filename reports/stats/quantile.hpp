#pragma once

#include <span>

namespace taskbench::reports::stats {

/// The p-quantile by linear interpolation between the sorted values: definition 7 of Hyndman and
/// Fan (Sample quantiles in statistical packages, 1996), the default of NumPy and R. p from 0, the
/// least value, to 1, the greatest. Throws std::invalid_argument for another p, for no values, and
/// for values that are not finite.
[[nodiscard]] double quantile(std::span<const double> values, double p);

}  // namespace taskbench::reports::stats
