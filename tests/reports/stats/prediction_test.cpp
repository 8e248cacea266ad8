#include "reports/stats/prediction.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "tests/reports/stats/noise.hpp"

namespace taskbench::reports::stats {
namespace {

using Values = std::vector<double>;

// >>> b = [10.1, 9.8, 10.4, 10.0, 9.9, 10.2, 10.3]; k = 7   # SciPy 1.10.1
// >>> np.mean(b) + scipy.stats.t.ppf(1 - alpha, k - 1) * np.std(b, ddof=1) * np.sqrt(1 + 1 / k)
TEST(Prediction, of_few_values_equals_the_formula_in_scipy) {
  const Level level = level_of(Values{10.1, 9.8, 10.4, 10.0, 9.9, 10.2, 10.3});
  EXPECT_NEAR(level.mean + prediction_reach(level, 0.01), 10.825768179445511, 1e-9);
  EXPECT_NEAR(level.mean + prediction_reach(level, 0.05), 10.548758263187496, 1e-9);
}

TEST(Prediction, of_nine_values_leaves_out_the_least_and_the_greatest) {
  // 1 is raised to 2 and 99 lowered to 8: mean 5, sum of squares 2 * (9 + 9 + 4 + 1) = 46.
  const Level level = level_of(Values{99, 5, 2, 7, 4, 8, 3, 6, 1});
  EXPECT_DOUBLE_EQ(level.mean, 5);
  EXPECT_NEAR(level.deviation, std::sqrt(46.0 / 8) * 9 / 7, 1e-12);
  EXPECT_EQ(level.freedom, 6);
  EXPECT_EQ(level.count, 9);
}

TEST(Prediction, is_nothing_when_all_are_equal) {
  EXPECT_EQ(prediction_reach(level_of(Values(7, 2.5)), 0.01), 0);
}

TEST(Prediction, is_exceeded_as_often_as_it_says) {
  constexpr int kTrials = 20'000;
  for (const double alpha : {0.05, 0.01}) {
    for (const std::size_t count : {7U, 9U, 12U, 15U}) {
      Noise noise(kSeed);
      int exceeded = 0;
      for (int trial = 0; trial < kTrials; ++trial) {
        const Level level = level_of(noise.normals(count));
        exceeded += noise.normal() - level.mean > prediction_reach(level, alpha);
      }
      EXPECT_NEAR(exceeded / double{kTrials}, alpha, 0.1 * alpha + four_errors(alpha, kTrials))
          << count << " values, seed " << kSeed;
    }
  }
}

TEST(Prediction, is_hardly_moved_by_a_disturbed_value) {
  Noise noise(kSeed);
  for (const std::size_t count : {9U, 15U, 30U}) {
    Values values = noise.normals(count);
    const double quiet = prediction_reach(level_of(values), 0.01);
    values[3] = 1000;
    EXPECT_LT(prediction_reach(level_of(values), 0.01), 2 * quiet) << count;
  }
}

TEST(Prediction, rejects_what_it_cannot_use) {
  EXPECT_THROW((void)level_of(Values{}), std::invalid_argument);
  EXPECT_THROW((void)level_of(Values{1}), std::invalid_argument);
  EXPECT_THROW((void)level_of(Values{1, std::numeric_limits<double>::infinity()}),
               std::invalid_argument);
  EXPECT_THROW((void)prediction_reach(level_of(Values{1, 2}), 0), std::invalid_argument);
}

}  // namespace
}  // namespace taskbench::reports::stats
