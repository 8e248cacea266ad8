#include "reports/stats/power.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <stdexcept>
#include <vector>

#include "reports/stats/sign_flip.hpp"
#include "reports/stats/walsh.hpp"
#include "tests/reports/stats/noise.hpp"

namespace taskbench::reports::stats {
namespace {

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

// >>> m, t = np.log1p(max(epsilon, delta)), scipy.stats.t.ppf
// >>> gap, e = (effect - np.log1p(epsilon), alpha) if effect >= m else (m - effect, pass_error)
// >>> next(n for n in itertools.count(2) if t(1 - e, n - 1) * s / np.sqrt(n) < gap)
TEST(BlocksNeeded, equals_a_plain_search_in_scipy) {
  EXPECT_EQ(blocks_needed(.05, 0, .01, .03, {.005, .02}), 15U);
  EXPECT_EQ(blocks_needed(.05, .1, .01, .03, {.005, .02}), 6U);
  EXPECT_EQ(blocks_needed(.2, -.02, .01, .03, {.005, .02}), 72U);
  EXPECT_EQ(blocks_needed(.15, .06, .05, .03, {.004, .02}), 1264U);
}

TEST(BlocksNeeded, grow_with_the_noise_and_as_the_effect_comes_near_to_what_matters) {
  const VerdictErrors errors{.005, .02};
  std::size_t before = 2;
  for (double deviation = 0.01; deviation < 0.3; deviation *= 1.5) {
    const std::size_t now = blocks_needed(deviation, 0, .01, .03, errors).value();
    EXPECT_GE(now, before);
    before = now;
  }
  for (double effect = 0; effect < 0.029; effect += 0.004) {
    const std::size_t now = blocks_needed(0.3, effect, .01, .03, errors).value();
    EXPECT_GT(now, before) << effect;
    before = now;
  }
}

TEST(BlocksNeeded, is_empty_when_the_effect_is_at_the_threshold) {
  const VerdictErrors errors{.005, .02};
  EXPECT_EQ(blocks_needed(.1, std::log1p(.03) - 1e-9, .01, .03, errors), std::nullopt);
  EXPECT_EQ(blocks_needed(.1, std::log1p(.05) + 1e-9, .05, .03, errors), std::nullopt);
  EXPECT_EQ(blocks_needed(100, 0, 0, .03, errors), std::nullopt);
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
  EXPECT_THROW((void)blocks_needed(1, 0, 0, nan, {}), std::invalid_argument);
  EXPECT_THROW((void)blocks_needed(kInfinity, 0, 0, .03, {}), std::invalid_argument);
  EXPECT_THROW((void)blocks_needed(1, kInfinity, 0, .03, {}), std::invalid_argument);
}

}  // namespace
}  // namespace taskbench::reports::stats
