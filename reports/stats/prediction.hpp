// What a further run may show when nothing has changed. VERDICTS part B.
#pragma once

#include <span>

namespace taskbench::reports::stats {

/// A further value of the same normal distribution lies above this with probability alpha:
///     mean + t(k - 1, 1 - alpha) s sqrt(1 + 1 / k)
/// for k baseline values with standard deviation s. Throws std::invalid_argument for fewer than two
/// values, values that are not finite, and an alpha that is not between 0 and 1.
[[nodiscard]] double prediction_bound(std::span<const double> baseline, double alpha);

}  // namespace taskbench::reports::stats
