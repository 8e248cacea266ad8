#include "reports/stats/prediction.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "reports/stats/distributions.hpp"
#include "reports/stats/require.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::reports::stats {
namespace {

constexpr std::size_t kFewestTrimmed = 9;
constexpr std::size_t kTrimmedShare = 7;  // a seventh of the values, at each end

}  // namespace

Level level_of(std::span<const double> values) {
  require_finite(values, "level");
  require(values.size() >= 2, "level of fewer than two values");
  const std::size_t k = values.size();
  const std::size_t cut = k < kFewestTrimmed ? 0 : k / kTrimmedShare;
  const std::size_t left = k - 2 * cut;
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const std::span<const double> middle = std::span<const double>(sorted).subspan(cut, left);
  Level level;
  level.mean = mean(middle);
  for (double& value : sorted) value = std::clamp(value, middle.front(), middle.back());
  level.deviation = standard_deviation(sorted) * static_cast<double>(k) / static_cast<double>(left);
  level.count = static_cast<double>(k);
  level.freedom = static_cast<double>(left - 1);
  return level;
}

double prediction_reach(const Level& level, double alpha) {
  require_fraction(alpha, "prediction: alpha");
  return student_t_quantile(1 - alpha, level.freedom) * level.deviation *
         std::sqrt(1 + 1 / level.count);
}

}  // namespace taskbench::reports::stats
