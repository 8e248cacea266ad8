#include "reports/stats/interval.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

namespace taskbench::reports::stats {
namespace {

using Values = std::vector<double>;

Values first_numbers(std::size_t count) {
  Values values(count);
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

// Ranks of the interval for n values at 95 %: Conover, Practical Nonparametric Statistics, 3rd ed.,
// table A3 (p = 0.5), by the greatest k with P(B(n, 1/2) < k) <= 0.025.
TEST(MedianInterval, has_the_ranks_of_the_sign_test) {
  struct Known {
    std::size_t n;
    double low;
    double high;
  };
  for (const Known& known :
       {Known{6, 1, 6}, {9, 2, 8}, {10, 2, 9}, {15, 4, 12}, {20, 6, 15}, {100, 40, 61}}) {
    const auto interval = median_interval(first_numbers(known.n), 0.95);
    ASSERT_TRUE(interval) << known.n;
    EXPECT_EQ(interval->low, known.low) << known.n;
    EXPECT_EQ(interval->high, known.high) << known.n;
  }
}

TEST(MedianInterval, of_too_few_values_is_none) {
  for (std::size_t n = 1; n < 6; ++n) EXPECT_FALSE(median_interval(first_numbers(n), 0.95)) << n;
  EXPECT_TRUE(median_interval(first_numbers(5), 0.9));
}

TEST(MedianInterval, does_not_depend_on_the_order) {
  Values values = first_numbers(11);
  const auto sorted = median_interval(values, 0.95);
  std::ranges::reverse(values);
  std::swap(values[3], values[7]);
  EXPECT_EQ(median_interval(values, 0.95)->low, sorted->low);
  EXPECT_EQ(median_interval(values, 0.95)->high, sorted->high);
}

TEST(MedianInterval, of_thousands_of_values_lies_around_the_middle) {
  const auto interval = median_interval(first_numbers(10'000), 0.95);
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->low, 4'903, 1);  // 5,000.5 less 1.96 sqrt(10,000) / 2
  EXPECT_NEAR(interval->high, 5'098, 1);
}

TEST(MedianInterval, holds_the_median_as_often_as_it_says) {
  std::mt19937_64 random(20261121);
  std::exponential_distribution<double> skewed(1);
  int held = 0;
  constexpr int kTrials = 4'000;
  for (int i = 0; i < kTrials; ++i) {
    Values values(9);
    std::ranges::generate(values, [&] { return skewed(random); });
    const auto interval = median_interval(values, 0.95);
    held += interval->low <= 0.6931471805599453 && 0.6931471805599453 <= interval->high ? 1 : 0;
  }
  EXPECT_GE(held, 0.95 * kTrials);
}

TEST(MedianInterval, rejects_what_it_cannot_use) {
  EXPECT_THROW((void)median_interval(Values{}, 0.95), std::invalid_argument);
  EXPECT_THROW((void)median_interval(first_numbers(9), 1), std::invalid_argument);
  EXPECT_THROW((void)median_interval(Values{1, std::numeric_limits<double>::infinity()}, 0.95),
               std::invalid_argument);
}

}  // namespace
}  // namespace taskbench::reports::stats
