#include "reports/stats/shift.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

namespace taskbench::reports::stats {
namespace {

using Sample = std::vector<double>;

Sample draw(std::mt19937_64& random, std::size_t count, double centre) {
  std::normal_distribution<double> normal(centre, 1);
  Sample sample(count);
  for (double& value : sample) value = normal(random);
  return sample;
}

// Hollander and Wolfe (1973), p. 69: permeability of the human chorioamnion, at term and at 12 to
// 26 weeks. scipy.stats.mannwhitneyu(at_term, early, alternative='greater', method='exact') gives
// U = 35, p = 0.1272.
TEST(shift, exact_p_of_a_published_example) {
  const Sample at_term{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
  const Sample early{1.15, 0.88, 0.90, 0.74, 1.21};
  EXPECT_NEAR(shift_p(early, at_term, 0), 0.1272, 0.00005);
  EXPECT_NEAR(shift(early, at_term), 0.305, 1e-12);
}

// All C(6, 3) orders of six values in three and three are equally likely.
TEST(shift, p_is_that_of_all_orders) {
  for (const double least : {-10.0, 0.5, 1.5, 10.0}) {
    const std::vector<double> all{1, 2, 4, 5.5, 7, 11};
    std::vector<bool> is_above{false, false, false, true, true, true};
    const Sample below{1, 4, 5.5};
    const Sample above{2, 7, 11};
    const auto pairs = [&](const Sample& one, const Sample& other, double limit) {
      int count = 0;
      for (const double a : one) {
        for (const double b : other) count += b - a > limit ? 1 : 0;
      }
      return count;
    };
    const int observed = pairs(below, above, least);
    int reached = 0;
    int orders = 0;
    do {
      Sample one;
      Sample other;
      for (std::size_t i = 0; i < all.size(); ++i) (is_above[i] ? other : one).push_back(all[i]);
      reached += pairs(one, other, 0) >= observed ? 1 : 0;
      ++orders;
    } while (std::next_permutation(is_above.begin(), is_above.end()));
    EXPECT_NEAR(shift_p(below, above, least), static_cast<double>(reached) / orders, 1e-12);
  }
}

TEST(shift, of_one_value_each_is_their_difference_without_any_bound) {
  const Sample a{2};
  const Sample b{5};
  EXPECT_EQ(shift(a, b), 3);
  EXPECT_DOUBLE_EQ(shift_p(a, b, 0), 0.5);
  EXPECT_EQ(shift_upper_bound(a, b, 0.05), std::numeric_limits<double>::infinity());
  EXPECT_EQ(shift_interval(a, b, 0.95).low, -std::numeric_limits<double>::infinity());
}

TEST(shift, the_bound_is_what_the_test_keeps) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 50; ++i) {
    const Sample a = draw(random, 5 + random() % 4, 0);
    const Sample b = draw(random, 5 + random() % 4, 0);
    const double bound = shift_upper_bound(a, b, 0.05);
    ASSERT_TRUE(std::isfinite(bound));
    // "At least c above" is "at most -c" of the mirror image.
    EXPECT_GT(shift_p(b, a, -(bound - 1e-9)), 0.05);
    EXPECT_LE(shift_p(b, a, -(bound + 1e-9)), 0.05);
  }
}

TEST(shift, p_is_super_uniform_under_the_null) {
  std::mt19937_64 random(3);
  constexpr int kTrials = 4'000;
  for (const double level : {0.01, 0.05, 0.2}) {
    int below = 0;
    for (int i = 0; i < kTrials; ++i) {
      if (shift_p(draw(random, 6, 0), draw(random, 7, 0), 0) <= level) ++below;
    }
    // Four standard deviations of the binomial.
    EXPECT_LE(below, kTrials * level + 4 * std::sqrt(kTrials * level * (1 - level))) << level;
  }
}

TEST(shift, the_interval_covers_as_often_as_it_says) {
  std::mt19937_64 random(4);
  constexpr int kTrials = 2'000;
  int covered = 0;
  for (int i = 0; i < kTrials; ++i) {
    const Interval interval = shift_interval(draw(random, 7, 0), draw(random, 7, 0.3), 0.95);
    if (interval.low <= 0.3 && 0.3 <= interval.high) ++covered;
  }
  EXPECT_GE(covered, kTrials * 0.95 - 4 * std::sqrt(kTrials * 0.95 * 0.05));
  EXPECT_LE(covered, kTrials * 0.98);
}

TEST(shift, order_and_scale_change_nothing) {
  const Sample a{1, 2.5, 4, 7, 8.5};
  const Sample b{2, 5.5, 6, 9, 9.5};
  const Sample a_reversed(a.rbegin(), a.rend());
  EXPECT_EQ(shift(a, b), shift(a_reversed, b));
  EXPECT_EQ(shift_p(a, b, 0.5), shift_p(a_reversed, b, 0.5));
  Sample a_scaled = a;
  Sample b_scaled = b;
  for (double& value : a_scaled) value *= 8;
  for (double& value : b_scaled) value *= 8;
  EXPECT_EQ(shift(a_scaled, b_scaled), 8 * shift(a, b));
  EXPECT_EQ(shift_p(a_scaled, b_scaled, 4), shift_p(a, b, 0.5));
}

TEST(shift, ties_are_never_evidence) {
  const Sample same{1, 1, 1, 1, 1, 1};
  EXPECT_DOUBLE_EQ(shift_p(same, same, 0), 1);
}

TEST(shift, bad_samples_are_refused) {
  const Sample good{1, 2};
  EXPECT_THROW((void)shift(good, Sample{}), std::invalid_argument);
  EXPECT_THROW((void)shift_p(Sample{std::nan("")}, good, 0), std::invalid_argument);
  EXPECT_THROW((void)shift(good, Sample(kMaxShiftSample + 1, 1.0)), std::invalid_argument);
  EXPECT_THROW((void)shift_upper_bound(good, good, 0), std::invalid_argument);
}

}  // namespace
}  // namespace taskbench::reports::stats
