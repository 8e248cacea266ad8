#include "reports/stats/interval.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "reports/stats/require.hpp"

namespace taskbench::reports::stats {
namespace {

/// How many of n sorted values may be left out at either end: the greatest k for which fewer than k
/// heads in n throws of a coin have at most this probability. Computed in logarithms, since doubles
/// cannot represent 2^-n from 1,075 values on.
std::size_t left_out(std::size_t n, double probability) {
  const auto count = static_cast<double>(n);
  double log_of_one = -count * std::log(2.0);  // of the probability of exactly k heads
  double of_at_most = 0;
  std::size_t k = 0;
  for (; 2 * k < n; ++k) {
    of_at_most += std::exp(log_of_one);
    if (of_at_most > probability) break;
    const auto heads = static_cast<double>(k);
    log_of_one += std::log((count - heads) / (heads + 1));
  }
  return k;
}

}  // namespace

std::optional<Interval> median_interval(std::span<const double> values, double confidence) {
  require_finite(values, "median_interval");
  require_fraction(confidence, "confidence");
  const std::size_t k = left_out(values.size(), (1 - confidence) / 2);
  if (k == 0) return std::nullopt;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return Interval{sorted[k - 1], sorted[sorted.size() - k]};
}

}  // namespace taskbench::reports::stats
