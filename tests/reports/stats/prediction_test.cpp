#include "reports/stats/prediction.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <vector>

#include "tests/reports/stats/noise.hpp"

namespace taskbench::reports::stats {
namespace {

using Values = std::vector<double>;

// >>> b = [10.1, 9.8, 10.4, 10.0, 9.9, 10.2, 10.3]; k = 7   # SciPy 1.10.1
// >>> np.mean(b) + scipy.stats.t.ppf(1 - alpha, k - 1) * np.std(b, ddof=1) * np.sqrt(1 + 1 / k)
TEST(PredictionBound, equals_the_formula_in_scipy) {
  const Values baseline = {10.1, 9.8, 10.4, 10.0, 9.9, 10.2, 10.3};
  EXPECT_NEAR(prediction_bound(baseline, 0.01), 10.825768179445511, 1e-9);
  EXPECT_NEAR(prediction_bound(baseline, 0.05), 10.548758263187496, 1e-9);
}

TEST(PredictionBound, is_the_value_itself_when_all_are_equal) {
  EXPECT_EQ(prediction_bound(Values(7, 2.5), 0.01), 2.5);
}

TEST(PredictionBound, is_exceeded_as_often_as_it_says) {
  constexpr int kTrials = 5000;
  constexpr double kAlpha = 0.05;
  Noise noise(kSeed);
  int exceeded = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const double bound = prediction_bound(noise.normals(7), kAlpha);
    exceeded += noise.normal() > bound;
  }
  EXPECT_NEAR(exceeded, kTrials * kAlpha, kTrials * four_errors(kAlpha, kTrials))
      << "seed " << kSeed;
}

TEST(PredictionBound, rejects_what_it_cannot_use) {
  EXPECT_THROW((void)prediction_bound(Values{}, 0.01), std::invalid_argument);
  EXPECT_THROW((void)prediction_bound(Values{1}, 0.01), std::invalid_argument);
  EXPECT_THROW((void)prediction_bound(Values{1, std::numeric_limits<double>::infinity()}, 0.01),
               std::invalid_argument);
  EXPECT_THROW((void)prediction_bound(Values{1, 2}, 0), std::invalid_argument);
}

}  // namespace
}  // namespace taskbench::reports::stats
