// Predicts the result of a further run if nothing has changed: docs/design/baselines.md.
#pragma once

#include <span>

namespace taskbench::reports::stats {

/// The normal distribution that values are assumed to come from.
struct Level {
  double mean = 0;
  double deviation = 0;  ///< standard deviation of one value
  double count = 0;      ///< number of values
  double freedom = 0;    ///< degrees of freedom of `deviation`
};

/// The level of values. From nine values on, the lowest and the highest seventh do not count, so
/// that a disturbed value has no influence: the trimmed mean, and the Winsorised standard deviation
/// divided by the remaining share (Tukey and McLaughlin 1963; Yuen 1974), with one degree of
/// freedom less than the number of remaining values. For fewer values, mean and standard deviation.
/// Throws std::invalid_argument for fewer than two values, and for values that are not finite.
[[nodiscard]] Level level_of(std::span<const double> values);

/// How far a further value exceeds the level's mean with probability alpha:
///     t(freedom, 1 - alpha) deviation sqrt(1 + 1 / count)
/// Exact for fewer than nine values; otherwise within a tenth of alpha, for 0.001 to 0.05 and up to
/// fifteen values, and less often than alpha for more. Throws std::invalid_argument for an alpha
/// that is not between 0 and 1.
[[nodiscard]] double prediction_reach(const Level& level, double alpha);

}  // namespace taskbench::reports::stats
