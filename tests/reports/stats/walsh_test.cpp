#include "reports/stats/walsh.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <vector>

#include "reports/stats/sign_flip.hpp"
#include "reports/stats/summary.hpp"
#include "tests/reports/stats/noise.hpp"
#include "tests/reports/stats/published.hpp"

namespace taskbench::reports::stats {
namespace {

using Values = std::vector<double>;

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

/// Before minus after, nine patients (Hollander, Wolfe and Chicken, Nonparametric Statistical
/// Methods, example 3.1).
const Values kDepression = {1.83 - .878, .50 - .647,  1.62 - .598, 2.48 - 2.05, 1.68 - 1.06,
                            1.88 - 1.29, 1.55 - 1.06, 3.06 - 3.14, 1.30 - 1.29};

double p_slower(const Values& values, double shift) {
  const std::vector<Values> table = {values};
  const std::array shifts = {shift};
  return sign_flip_test(table, shifts, Direction::slower, kSeed).p.front();
}

// Hollander, Wolfe and Chicken, examples 3.3 and 3.4 (there after minus before): the estimate is
// 0.46, the interval at 96.1 % is 0.010 to 0.786.
TEST(HodgesLehmann, and_its_interval_equal_the_published_ones_of_the_depression_scores) {
  EXPECT_NEAR(hodges_lehmann(kDepression), 0.46, 1e-12);
  const Interval interval = confidence_interval(kDepression, 0.96);
  EXPECT_NEAR(interval.low, 0.010, 1e-12);
  EXPECT_NEAR(interval.high, 0.786, 1e-12);
}

// >>> w = sorted((d[i] + d[j]) / 2 for i in range(15) for j in range(i, 15))
// >>> np.median(w), w[25], w[-26], w[19], w[-20], w[15], w[-16]
// (25.0, 4.0, 41.5, -9.5, 44.5, -13.0, 49.0)
// for P(W <= 25) = 0.02396, P(W <= 19) = 0.00903, P(W <= 15) = 0.00418 by convolution; P(W <= 26)
// = 0.0277, P(W <= 20) = 0.0108, P(W <= 16) = 0.00513
TEST(ConfidenceInterval, of_darwins_plants_ends_at_walsh_averages) {
  EXPECT_EQ(hodges_lehmann(kDarwin), 25);
  const Interval interval = confidence_interval(kDarwin, 0.95);
  EXPECT_EQ(interval.low, 4);
  EXPECT_EQ(interval.high, 41.5);
  EXPECT_EQ(upper_bound(kDarwin, 0.01), 44.5);
  EXPECT_EQ(lower_bound(kDarwin, 0.01), -9.5);
  EXPECT_EQ(upper_bound(kDarwin, 0.005), 49);
  EXPECT_EQ(lower_bound(kDarwin, 0.005), -13);
}

TEST(HodgesLehmann, is_the_value_itself_and_the_mean_of_two) {
  EXPECT_EQ(hodges_lehmann(Values{3.25}), 3.25);
  EXPECT_EQ(hodges_lehmann(Values{3, 8}), 5.5);
  EXPECT_EQ(hodges_lehmann(Values{1, 1, 1, 1}), 1);
}

TEST(HodgesLehmann, is_not_moved_by_outliers_in_a_quarter_of_the_values) {
  const double estimate = hodges_lehmann(Values{1, 2, 3, 4, 5, 6, 1e9, 1e9});
  EXPECT_GE(estimate, 1);
  EXPECT_LE(estimate, 6);
}

TEST(HodgesLehmann, moves_and_stretches_with_the_values) {
  Noise noise(kSeed);
  const Values values = noise.heavies(13);
  Values other;
  for (const double value : values) other.push_back(5 - 8 * value);
  EXPECT_NEAR(hodges_lehmann(other), 5 - 8 * hodges_lehmann(values), 1e-12);
  EXPECT_NEAR(upper_bound(other, 0.05), 5 - 8 * lower_bound(values, 0.05), 1e-12);
  EXPECT_NEAR(robust_deviation(other), 8 * robust_deviation(values), 1e-12);
}

TEST(UpperBound, is_infinite_when_no_test_has_the_level) {
  const Values eight = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(upper_bound(eight, 1.0 / 256), 8);
  EXPECT_EQ(lower_bound(eight, 1.0 / 256), 1);
  EXPECT_EQ(upper_bound(eight, 0.0039), kUnbounded);
  EXPECT_EQ(lower_bound(eight, 0.0039), -kUnbounded);
  EXPECT_EQ(confidence_interval(eight, 0.99).high, 8);
  EXPECT_EQ(confidence_interval(eight, 0.999).high, kUnbounded);
  EXPECT_EQ(confidence_interval(Values{1}, 0.95).low, -kUnbounded);
}

TEST(UpperBound, is_never_below_the_estimate) {
  Noise noise(kSeed);
  for (std::size_t count = 1; count < 20; ++count) {
    const Values values = noise.normals(count);
    for (const double alpha : {0.01, 0.3, 0.5, 0.9}) {
      EXPECT_GE(upper_bound(values, alpha), hodges_lehmann(values));
      EXPECT_LE(lower_bound(values, alpha), hodges_lehmann(values));
    }
  }
}

TEST(HodgesLehmann, and_bounds_are_those_of_all_averages_sorted) {
  Noise noise(kSeed);
  for (const std::size_t count : {2U, 22U, 23U, 60U, 61U, 150U, 256U}) {
    for (const bool is_tied : {false, true}) {
      Values values = noise.heavies(count);
      for (double& each : values) each = is_tied ? std::round(2 * each) : each;
      Values averages;
      for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t j = i; j < count; ++j) averages.push_back((values[i] + values[j]) / 2);
      }
      std::ranges::sort(averages);
      EXPECT_EQ(hodges_lehmann(values), median(averages)) << count << ", seed " << kSeed;
      const Values tail = signed_rank_lower_tail(count);
      for (const double alpha : {0.49, 0.3, 0.26}) {
        const auto beyond = std::ranges::upper_bound(tail, alpha) - tail.begin();
        EXPECT_EQ(upper_bound(values, alpha), *(averages.end() - beyond))
            << count << ", alpha " << alpha << ", seed " << kSeed;
      }
    }
  }
}

TEST(LowerBound, is_where_the_sign_flip_test_stops_rejecting) {
  Noise noise(kSeed);
  for (int trial = 0; trial < 20; ++trial) {
    const Values values = noise.heavies(7);
    Values averages;
    for (auto one = values.begin(); one != values.end(); ++one) {
      for (auto other = one; other != values.end(); ++other) {
        averages.push_back((*one + *other) / 2);
      }
    }
    std::ranges::sort(averages);
    for (const double alpha : {0.01, 0.05, 0.2}) {
      const double bound = lower_bound(values, alpha);
      for (std::size_t i = 1; i < averages.size(); ++i) {
        const double shift = (averages[i - 1] + averages[i]) / 2;
        EXPECT_EQ(p_slower(values, shift) <= alpha, shift < bound)
            << "seed " << kSeed << ", trial " << trial << ", shift " << shift;
      }
    }
  }
}

TEST(ConfidenceInterval, holds_the_centre_as_often_as_it_says) {
  constexpr int kTrials = 4000;
  constexpr double kCentre = 3;
  Noise noise(kSeed);
  const std::array<std::function<double()>, 3> sources = {
      [&] { return noise.normal(); }, [&] { return noise.heavy(); },
      [&] { return std::round(2 * noise.normal()); }};
  constexpr std::size_t kTied = 2;
  for (std::size_t source = 0; source < sources.size(); ++source) {
    int inside = 0;
    int below_upper = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      Values values(12);
      std::generate(values.begin(), values.end(), [&] { return kCentre + sources[source](); });
      const Interval interval = confidence_interval(values, 0.95);
      inside += interval.low <= kCentre && kCentre <= interval.high;
      below_upper += kCentre <= upper_bound(values, 0.02);
    }
    EXPECT_GE(inside, kTrials * (0.95 - four_errors(0.05, kTrials))) << "source " << source;
    EXPECT_GE(below_upper, kTrials * (0.98 - four_errors(0.02, kTrials))) << "source " << source;
    if (source != kTied) {  // nor needlessly conservative: exactly 0.958 and 0.983
      EXPECT_LE(inside, kTrials * 0.975) << "source " << source;
      EXPECT_LE(below_upper, kTrials * 0.992) << "source " << source;
    }
  }
}

TEST(RobustDeviation, is_the_standard_deviation_of_normal_noise) {
  Noise noise(kSeed);
  for (const std::size_t count : {8U, 16U, 32U}) {
    constexpr int kSamples = 400;
    double sum = 0;
    for (int sample = 0; sample < kSamples; ++sample) sum += robust_deviation(noise.normals(count));
    EXPECT_NEAR(sum / kSamples, 1.01, 0.06) << count << " values, seed " << kSeed;
  }
}

TEST(RobustDeviation, is_not_moved_by_an_outlier) {
  Noise noise(kSeed);
  Values values = noise.normals(32);
  const double before = robust_deviation(values);
  values[0] = 1e6;
  EXPECT_NEAR(robust_deviation(values), before, 0.3 * before);
  EXPECT_GT(standard_deviation(values), 1e5);
}

TEST(RobustDeviation, is_zero_for_equal_values_and_known_for_few) {
  EXPECT_EQ(robust_deviation(Values(8, 0.25)), 0);
  // Half the distance, times the root of 2, over t(1 - 1/4) = 1 for one degree of freedom.
  EXPECT_NEAR(robust_deviation(Values{0, 2}), std::sqrt(2), 1e-12);
}

TEST(Walsh, rejects_what_it_cannot_use) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)hodges_lehmann(Values{}), std::invalid_argument);
  EXPECT_THROW((void)hodges_lehmann(Values{1, nan}), std::invalid_argument);
  EXPECT_THROW((void)hodges_lehmann(Values{kUnbounded}), std::invalid_argument);
  EXPECT_THROW((void)upper_bound(Values{1, nan}, 0.1), std::invalid_argument);
  EXPECT_THROW((void)upper_bound(Values{1}, 0), std::invalid_argument);
  EXPECT_THROW((void)upper_bound(Values{1}, 1), std::invalid_argument);
  EXPECT_THROW((void)confidence_interval(Values{1}, nan), std::invalid_argument);
  EXPECT_THROW((void)confidence_interval(Values{1}, 95), std::invalid_argument);
  EXPECT_THROW((void)robust_deviation(Values{1}), std::invalid_argument);
}

}  // namespace
}  // namespace taskbench::reports::stats
