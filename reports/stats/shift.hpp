// How far one sample lies above another, from the differences of all pairs of values: the
// two-sample counterparts of walsh.hpp. They belong to the rank-sum test of Wilcoxon, Mann and
// Whitney: the interval is what the test accepts, and the estimate is where it is balanced
// (Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, 3rd ed., sections 4.1 to 4.3).
// Nothing here is random or approximated: the test is exact for any sizes. Ties make it
// conservative.
//
// All functions throw std::invalid_argument for an empty sample, for more than kMaxShiftSample
// values in one, and for values that are not finite. They take at most O((n m)^2) time.
#pragma once

#include <cstddef>
#include <span>

#include "reports/stats/interval.hpp"

namespace taskbench::reports::stats {

inline constexpr std::size_t kMaxShiftSample = 100;

/// Hodges and Lehmann's estimate of how far `above` lies above `below`: the median of all
/// differences. For one value each, their difference.
[[nodiscard]] double shift(std::span<const double> below, std::span<const double> above);

/// The smallest p for samples of these sizes, that of complete separation: 1 / C(n + m, n).
[[nodiscard]] double least_shift_p(std::size_t n, std::size_t m);

/// p of the null hypothesis "`above` lies at most `least` above `below`".
[[nodiscard]] double shift_p(std::span<const double> below, std::span<const double> above,
                             double least);

/// An upper bound of the shift with at least probability 1 - alpha; +infinity if there are too few
/// values for a test of that level.
[[nodiscard]] double shift_upper_bound(std::span<const double> below, std::span<const double> above,
                                       double alpha);

/// Confidence interval of the shift, with at least this probability; each bound has half of the
/// error.
[[nodiscard]] Interval shift_interval(std::span<const double> below, std::span<const double> above,
                                      double confidence);

}  // namespace taskbench::reports::stats
