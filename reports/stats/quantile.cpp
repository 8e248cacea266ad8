#include "reports/stats/quantile.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "reports/stats/require.hpp"

namespace taskbench::reports::stats {

double quantile(std::span<const double> values, double p) {
  require_finite(values, "quantile");
  require(p >= 0 && p <= 1, "quantile: p must lie between 0 and 1");
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const double place = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

}  // namespace taskbench::reports::stats
