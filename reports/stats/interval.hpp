#pragma once

#include <optional>
#include <span>

namespace taskbench::reports::stats {

/// A confidence interval, including both ends. An end that the data do not bound is infinite.
struct Interval {
  double low = 0;
  double high = 0;
};

/// A confidence interval of the median of the distribution that the values were drawn from, with at
/// least probability `confidence` for any distribution: the narrowest interval between two of the
/// sorted values, equally many from either end, that the sign test accepts (David and Nagaraja,
/// Order Statistics, 3rd ed., section 7.1). Empty if there are so few values that not even their
/// whole range has that probability: fewer than 6 at 95 %. Throws std::invalid_argument for values
/// that are not finite, and for a confidence that is not between 0 and 1.
[[nodiscard]] std::optional<Interval> median_interval(std::span<const double> values,
                                                      double confidence);

}  // namespace taskbench::reports::stats
