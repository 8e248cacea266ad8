#include "reports/stats/walsh.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "reports/stats/distributions.hpp"
#include "reports/stats/require.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::reports::stats {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// All n (n + 1) / 2 Walsh averages, in no order: to find a few by their ranks is far quicker than
/// to sort all.
std::vector<double> walsh_averages(std::span<const double> values) {
  require_finite(values, "Walsh averages");
  std::vector<double> averages;
  averages.reserve(values.size() * (values.size() + 1) / 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i; j < values.size(); ++j) {
      averages.push_back(std::midpoint(values[i], values[j]));
    }
  }
  return averages;
}

/// The values that would be at these places, counted from either end, if all were sorted.
Interval ranked(std::vector<double> averages, std::size_t from_each_end) {
  const auto low = averages.begin() + static_cast<std::ptrdiff_t>(from_each_end);
  const auto high = averages.end() - 1 - static_cast<std::ptrdiff_t>(from_each_end);
  std::nth_element(averages.begin(), low, averages.end());
  if (low != high) std::nth_element(low + 1, high, averages.end());
  return {*low, *high};
}

/// The greatest k with P(W <= k) <= alpha: this many Walsh averages lie outside a bound.
std::optional<std::size_t> cut(const std::vector<double>& lower_tail, double alpha) {
  const auto beyond = std::upper_bound(lower_tail.begin(), lower_tail.end(), alpha);
  if (beyond == lower_tail.begin()) return std::nullopt;
  return static_cast<std::size_t>(beyond - lower_tail.begin()) - 1;
}

/// Both bounds, each with an error of alpha.
Interval bounds(std::span<const double> values, double alpha) {
  require_fraction(alpha, "confidence bound: alpha");
  std::vector<double> averages = walsh_averages(values);
  const auto outside = cut(signed_rank_lower_tail(values.size()), alpha);
  if (!outside) return {-kInfinity, kInfinity};
  // With an alpha of a half or more, the bounds would change places.
  const std::size_t k = std::min(*outside, (averages.size() - 1) / 2);
  return ranked(std::move(averages), k);
}

}  // namespace

std::vector<double> signed_rank_lower_tail(std::size_t n) {
  std::vector<double> probability(n * (n + 1) / 2 + 1, 0.0);
  probability[0] = 1;
  for (std::size_t rank = 1; rank <= n; ++rank) {
    for (std::size_t sum = rank * (rank + 1) / 2 + 1; sum-- > 0;) {
      const double without = probability[sum];
      const double with = sum >= rank ? probability[sum - rank] : 0;
      probability[sum] = (without + with) / 2;
    }
  }
  std::partial_sum(probability.begin(), probability.end(), probability.begin());
  return probability;
}

double hodges_lehmann(std::span<const double> values) { return median(walsh_averages(values)); }

double upper_bound(std::span<const double> values, double alpha) {
  return bounds(values, alpha).high;
}

Interval confidence_interval(std::span<const double> values, double confidence) {
  require_fraction(confidence, "confidence interval: confidence");
  return bounds(values, (1 - confidence) / 2);
}

double robust_deviation(std::span<const double> values) {
  constexpr double kTail = 0.1;
  require(values.size() >= 2, "robust deviation of fewer than two values");
  const std::vector<double> lower_tail = signed_rank_lower_tail(values.size());
  // Three values or fewer have no interval of 80 %; the level that their whole range has is used.
  const std::size_t k = cut(lower_tail, kTail).value_or(0);
  const auto [low, high] = ranked(walsh_averages(values), k);
  const double width = high - low;
  const auto n = static_cast<double>(values.size());
  return width * std::sqrt(n) / (2 * student_t_quantile(1 - lower_tail[k], n - 1));
}

}  // namespace taskbench::reports::stats
