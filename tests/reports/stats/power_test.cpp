#include "reports/stats/power.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <vector>

#include "reports/stats/sign_flip.hpp"
#include "reports/stats/walsh.hpp"
#include "tests/reports/stats/noise.hpp"

namespace taskbench::reports::stats {
namespace {

constexpr std::uint64_t kSeed = 20261121;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// >>> t = scipy.stats.t.ppf
// >>> np.expm1(np.log1p(e) + (t(1 - alpha, n - 1) + t(1 - beta, n - 1)) * s / np.sqrt(n))
TEST(MinimumDetectableEffect, equals_the_formula_in_scipy) {
  EXPECT_NEAR(minimum_detectable_effect(.02, 16, .01, {.0015, .2}), 0.03247277637422654, 1e-9);
  EXPECT_NEAR(minimum_detectable_effect(.05, 64, 0, {.005, .1}), 0.02500295526515824, 1e-9);
}

// >>> np.expm1(np.log1p(.02) + scipy.stats.norm.ppf(.8 ** (1 / 8)) * .1)   # the formula: 0.1915
TEST(MinimumDetectableEffect, is_greater_where_all_blocks_must_agree) {
  EXPECT_NEAR(minimum_detectable_effect(.1, 8, .02, {.005, .2}), 0.2357503520704005, 1e-13);
}

TEST(MinimumDetectableEffect, is_infinite_where_no_test_has_the_level) {
  EXPECT_EQ(minimum_detectable_effect(.01, 8, 0, {.0005, .2}), kInfinity);
  EXPECT_EQ(minimum_detectable_effect(0, 8, 0, {.0005, .2}), kInfinity);
  EXPECT_EQ(minimum_detectable_effect(.01, 1, 0, {.6, .2}), kInfinity);
  EXPECT_TRUE(std::isfinite(minimum_detectable_effect(.01, 11, 0, {.0005, .2})));
}

TEST(MinimumDetectableEffect, is_epsilon_without_noise) {
  EXPECT_NEAR(minimum_detectable_effect(0, 16, .013, {.005, .2}), .013, 1e-15);
}

// The promise behind the number: of changes so great, the test finds four in five.
TEST(MinimumDetectableEffect, is_found_with_the_power_that_it_names) {
  constexpr int kTrials = 300;
  struct Case {
    std::size_t blocks;
    double alpha;
  };
  for (const Case& one : {Case{8, 0.005}, Case{12, 0.005}, Case{24, 0.003}}) {
    Noise noise(kSeed);
    int found = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<double> differences = noise.normals(one.blocks);
      const double change =
          minimum_detectable_effect(0.02, one.blocks, 0.01, {.alpha = one.alpha, .beta = 0.2});
      for (double& difference : differences) {
        difference = 0.02 * difference + std::log1p(change);
      }
      // As sign_flip_test decides (walsh_test.cpp), but faster.
      found += lower_bound(differences, one.alpha) > std::log1p(0.01);
    }
    EXPECT_NEAR(static_cast<double>(found) / kTrials, 0.8, 0.05 + four_errors(0.8, kTrials) / 2)
        << one.blocks << " blocks, seed " << kSeed;
  }
}

// >>> np.expm1(np.log1p(.03) + scipy.stats.t.ppf(.8, 15) * .01 / 4)
TEST(MinimumFailingEffect, exceeds_delta_so_that_the_estimate_reaches_it) {
  EXPECT_NEAR(minimum_failing_effect(.01, 16, 0, .03, {.0015, .2}), 0.032232997837209475, 1e-9);
}

TEST(MinimumFailingEffect, is_the_detectable_one_where_that_is_greater) {
  const TestErrors errors{.0015, .2};
  EXPECT_EQ(minimum_failing_effect(.1, 16, .01, .03, errors),
            minimum_detectable_effect(.1, 16, .01, errors));
  EXPECT_EQ(minimum_failing_effect(.1, 8, .01, .03, errors), kInfinity);
  EXPECT_NEAR(minimum_failing_effect(0, 16, .05, .03, errors), .05, 1e-15);
}

// By the formula above, counting up from 2 blocks in Python: 16, 46, 4139, 8.
TEST(BlocksNeeded, equals_a_plain_search) {
  EXPECT_EQ(blocks_needed(.02, .01, .03, {.005, .2}), 16U);
  EXPECT_EQ(blocks_needed(.05, 0, .03, {.005, .1}), 46U);
  EXPECT_EQ(blocks_needed(.2, .01, .02, {.01, .2}), 4139U);
  EXPECT_EQ(blocks_needed(.001, 0, .03, {.005, .2}), 8U);
}

TEST(BlocksNeeded, is_the_least_number_that_is_enough) {
  const TestErrors errors{.005, .2};
  for (double deviation = 0.001; deviation < 0.3; deviation *= 1.3) {
    const std::optional<std::size_t> needed = blocks_needed(deviation, .005, .03, errors);
    ASSERT_TRUE(needed.has_value());
    EXPECT_LE(minimum_detectable_effect(deviation, *needed, .005, errors), .03);
    EXPECT_GT(minimum_detectable_effect(deviation, *needed - 1, .005, errors), .03);
  }
}

TEST(BlocksNeeded, is_empty_when_no_number_is_enough) {
  EXPECT_EQ(blocks_needed(.01, .03, .03, {.005, .2}), std::nullopt);
  EXPECT_EQ(blocks_needed(.01, .04, .03, {.005, .2}), std::nullopt);
  EXPECT_EQ(blocks_needed(100, 0, .03, {.005, .2}), std::nullopt);
}

TEST(Power, rejects_what_has_no_meaning) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const TestErrors errors{.005, .2};
  EXPECT_THROW((void)minimum_detectable_effect(-1, 8, 0, errors), std::invalid_argument);
  EXPECT_THROW((void)minimum_detectable_effect(nan, 8, 0, errors), std::invalid_argument);
  EXPECT_THROW((void)minimum_detectable_effect(1, 0, 0, errors), std::invalid_argument);
  EXPECT_THROW((void)minimum_detectable_effect(1, 8, -.1, errors), std::invalid_argument);
  EXPECT_THROW((void)minimum_detectable_effect(1, 8, 0, {0, .2}), std::invalid_argument);
  EXPECT_THROW((void)minimum_detectable_effect(1, 8, 0, {.1, 1}), std::invalid_argument);
  EXPECT_THROW((void)minimum_failing_effect(1, 8, 0, -1, errors), std::invalid_argument);
  EXPECT_THROW((void)blocks_needed(1, 0, nan, errors), std::invalid_argument);
  EXPECT_THROW((void)blocks_needed(kInfinity, 0, .03, errors), std::invalid_argument);
}

}  // namespace
}  // namespace taskbench::reports::stats
