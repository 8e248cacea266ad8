#include "reports/stats/multiplicity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <vector>

#include "tests/reports/stats/noise.hpp"

namespace taskbench::reports::stats {
namespace {

using Values = std::vector<double>;

void expect_close(const Values& values, const Values& expected) {
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(values[i], expected[i], 1e-15) << "at " << i;
  }
}

// 4 * .005, 3 * .01, 2 * .03, and 1 * .04, which may not be less than the one before.
TEST(Holm, multiplies_by_how_many_are_left) {
  expect_close(holm(Values{.01, .04, .03, .005}), {.03, .06, .06, .02});
}

// R: p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), "holm")
TEST(Holm, equals_that_of_r) {
  expect_close(holm(Values{.01, .02, .03, .04, .05}), {.05, .08, .09, .09, .09});
}

// Two tests are of something that has changed, three of something that has not; these share noise.
TEST(Holm, what_has_not_changed_is_a_false_alarm_as_seldom_as_promised) {
  constexpr int kTrials = 4000;
  constexpr double kAlpha = 0.05;
  Noise noise(kSeed);
  int alarms = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const double common = noise.normal();
    Values p;
    for (int i = 0; i < 3; ++i) {
      p.push_back(std::erfc((0.6 * common + 0.8 * noise.normal()) / std::sqrt(2)) / 2);
    }
    p.insert(p.end(), 2, 1e-6);
    const Values adjusted = holm(p);
    alarms += *std::min_element(adjusted.begin(), adjusted.begin() + 3) <= kAlpha ? 1 : 0;
  }
  EXPECT_LE(alarms, kTrials * (kAlpha + four_errors(kAlpha, kTrials))) << "seed " << kSeed;
  EXPECT_GE(alarms, kTrials * kAlpha / 2) << "cautious without need, seed " << kSeed;
}

TEST(Holm, is_between_p_and_bonferronis) {
  const Values p = {.3, .001, .02, .02, 1, 0, .7};
  const Values adjusted = holm(p);
  for (std::size_t i = 0; i < p.size(); ++i) {
    EXPECT_GE(adjusted[i], p[i]);
    EXPECT_LE(adjusted[i], static_cast<double>(p.size()) * p[i]);
  }
  EXPECT_EQ(holm(Values{.2}), (Values{.2}));
}

TEST(Holm, rejects_what_is_no_probability) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Values& p : {Values{}, {.1, nan}, {1.1}, {-.1}}) {
    EXPECT_THROW((void)holm(p), std::invalid_argument);
  }
}

}  // namespace
}  // namespace taskbench::reports::stats
