// Where a symmetric distribution has its centre, by the Walsh averages of a sample: the means of
// all pairs of its values, each value with itself too.
//
// They belong to the Wilcoxon signed-rank statistic: of the n values less a centre c, the ranks of
// those above 0 less the ranks of those below is the number of Walsh averages above c less the
// number below. So their median is the centre at which that statistic is 0, and the interval in
// which the signed-rank test keeps c ends at two of them (Hollander, Wolfe and Chicken,
// Nonparametric Statistical Methods, 3rd ed., sections 3.1 to 3.3). Nothing here is random.
//
// All functions throw std::invalid_argument for no values, and for values that are not finite.
// They take time and space of O(n^2), the bounds O(n^3): some ten milliseconds for 256 values.
#pragma once

#include <span>

#include "reports/stats/interval.hpp"

namespace taskbench::reports::stats {

/// Hodges-Lehmann estimate of the centre: the median of the Walsh averages. Nearly as precise as
/// the mean for normal noise, and not moved by outliers in up to 29 % of the values.
[[nodiscard]] double hodges_lehmann(std::span<const double> values);

/// The centre lies below this with probability 1 - alpha at least, whatever the distribution,
/// provided that it is symmetric: it inverts the exact signed-rank test. +infinity when there are
/// so few values that no test has such a level, 2^-n > alpha. With ties the probability is higher.
[[nodiscard]] double upper_bound(std::span<const double> values, double alpha);

/// Holds the centre with probability `confidence` at least: from upper_bound's mirror image up to
/// it, each at half the error.
[[nodiscard]] Interval confidence_interval(std::span<const double> values, double confidence);

/// The standard deviation of normal noise in which the estimate of the centre by a mean would be as
/// uncertain as hodges_lehmann is here. For normal noise about 1.02 times its deviation, which is
/// the price of the ranks; for noise with outliers much less than the deviation, which only the
/// outliers determine. From the width of the interval of about 80 %, as Lehmann proposed
/// (Nonparametric confidence intervals for a shift parameter, Ann. Math. Stat. 34, 1963). Needs two
/// values.
[[nodiscard]] double robust_deviation(std::span<const double> values);

}  // namespace taskbench::reports::stats
