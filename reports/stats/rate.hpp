// How far a counted rate can be trusted, for instance of false alarms: Clopper and Pearson, The use
// of confidence or fiducial limits illustrated in the case of the binomial, 1934. Exact: holds the
// true rate with the stated probability at least, also after no events at all, where the usual
// approximations say "0 to 0".
//
// Both throw std::invalid_argument for no trials, more events than trials, and a confidence that is
// not between 0 and 1.
#pragma once

#include <cstddef>

#include "reports/stats/interval.hpp"

namespace taskbench::reports::stats {

/// Two-sided; rates from 0 to 1.
[[nodiscard]] Interval rate_interval(std::size_t events, std::size_t trials, double confidence);

/// One-sided: the rate is at most this. No event in 300 trials: 0.00994 at 95 %.
[[nodiscard]] double rate_upper_bound(std::size_t events, std::size_t trials, double confidence);

}  // namespace taskbench::reports::stats
