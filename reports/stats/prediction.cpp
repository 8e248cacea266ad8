#include "reports/stats/prediction.hpp"

#include <cmath>

#include "reports/stats/distributions.hpp"
#include "reports/stats/require.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::reports::stats {

double prediction_bound(std::span<const double> baseline, double alpha) {
  require_finite(baseline, "prediction bound");
  require(baseline.size() >= 2, "prediction bound of fewer than two values");
  require_fraction(alpha, "prediction bound: alpha");
  const auto k = static_cast<double>(baseline.size());
  return mean(baseline) +
         student_t_quantile(1 - alpha, k - 1) * standard_deviation(baseline) * std::sqrt(1 + 1 / k);
}

}  // namespace taskbench::reports::stats
