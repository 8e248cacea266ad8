// How far one sample lies above another, by the differences of all pairs of their values: the
// two-sample relatives of walsh.hpp. They belong to the rank-sum test of Wilcoxon, Mann and
// Whitney: the interval is what the test accepts, and the estimate is where it is balanced
// (Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, 3rd ed., sections 4.1 to 4.3).
// Nothing here is random or approximated: the test is exact for any sizes. Ties make it cautious.
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

/// The least p that samples of these sizes can have, that of complete separation: 1 / C(n + m, n).
[[nodiscard]] double least_shift_p(std::size_t n, std::size_t m);

/// p of "`above` lies at most `least` above `below`", against more.
[[nodiscard]] double shift_p(std::span<const double> below, std::span<const double> above,
                             double least);

/// The shift is below this with at least probability 1 - alpha; +infinity if there are so few
/// values that no test has that level.
[[nodiscard]] double shift_upper_bound(std::span<const double> below, std::span<const double> above,
                                       double alpha);

/// Contains the shift with at least probability `confidence`; each bound has half of the error.
[[nodiscard]] Interval shift_interval(std::span<const double> below, std::span<const double> above,
                                      double confidence);

}  // namespace taskbench::reports::stats
