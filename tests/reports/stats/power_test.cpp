#include "reports/stats/power.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <stdexcept>
#include <vector>

#include "reports/stats/sequential.hpp"
#include "reports/stats/sign_flip.hpp"
#include "reports/stats/walsh.hpp"
#include "tests/reports/stats/noise.hpp"

namespace taskbench::reports::stats {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// What the test alone detects if every change matters.
double detectable(double deviation, std::size_t blocks, double epsilon, const TestErrors& errors) {
  return minimum_failing_effect(deviation, blocks, epsilon, 0, errors);
}

// >>> t = scipy.stats.t.ppf
// >>> np.expm1(np.log1p(e) + (t(1 - alpha, n - 1) + t(1 - beta, n - 1)) * s / np.sqrt(n))
TEST(MinimumFailingEffect, equals_the_formula_in_scipy) {
  EXPECT_NEAR(detectable(.02, 16, .01, {.0015, .2}), 0.03247277637422654, 1e-9);
  EXPECT_NEAR(detectable(.05, 64, 0, {.005, .1}), 0.02500295526515824, 1e-9);
}

// >>> np.expm1(np.log1p(.02) + scipy.stats.norm.ppf(.8 ** (1 / 8)) * .1)   # the formula: 0.1915
TEST(MinimumFailingEffect, is_greater_where_all_blocks_must_agree) {
  EXPECT_NEAR(detectable(.1, 8, .02, {.005, .2}), 0.2357503520704005, 1e-13);
}

TEST(MinimumFailingEffect, is_infinite_where_no_test_has_the_level) {
  EXPECT_EQ(detectable(.01, 8, 0, {.0005, .2}), kInfinity);
  EXPECT_TRUE(std::isfinite(detectable(.01, 8, 0, {.01, .2, 40})));
  EXPECT_EQ(detectable(0, 8, 0, {.0005, .2}), kInfinity);
  EXPECT_EQ(detectable(.01, 1, 0, {.6, .2}), kInfinity);
  EXPECT_TRUE(std::isfinite(detectable(.01, 11, 0, {.0005, .2})));
}

TEST(MinimumFailingEffect, is_epsilon_without_noise) {
  EXPECT_NEAR(detectable(0, 16, .013, {.005, .2}), .013, 1e-15);
}

// The promise behind the number: the test finds four in five changes of this size.
TEST(MinimumFailingEffect, is_found_with_the_power_that_it_names) {
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
      const double change = detectable(0.02, one.blocks, 0.01, {.alpha = one.alpha, .beta = 0.2});
      for (double& difference : differences) difference = 0.02 * difference + std::log1p(change);
      // Decides like sign_flip_test (walsh_test.cpp), but faster.
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
  EXPECT_EQ(minimum_failing_effect(.1, 16, .01, .03, errors), detectable(.1, 16, .01, errors));
  EXPECT_EQ(minimum_failing_effect(.1, 8, .01, .03, errors), kInfinity);
  EXPECT_NEAR(minimum_failing_effect(0, 16, .05, .03, errors), .05, 1e-15);
}

// 2^-7 < 1 % < 2^-6. For forty workloads 40 / 2^12 is below 1 %, but not below what the first look
// leaves of it.
TEST(LeastBlocks, is_where_the_first_outcome_can_fail) {
  EXPECT_EQ(least_blocks({0.01, 0.05, 256}), 7U);
  EXPECT_EQ(least_blocks({0.05, 0.05, 256}), 5U);
  EXPECT_EQ(least_blocks({0.01, 0.05, 256}, 40), 13U);
  EXPECT_EQ(least_blocks({0.01, 0.05, 6}), std::nullopt);
  EXPECT_EQ(least_blocks({1e-5, 0.05, 256}), std::nullopt) << "ten thousand flips do not tell";
  EXPECT_TRUE(least_blocks({0.01, 0.05, 256}, 500)) << "of many blocks no workload's floor is left";
}

TEST(BlocksNeeded, are_never_fewer_than_can_fail_or_pass) {
  EXPECT_EQ(blocks_needed(1e-9, std::log(1.3), .01, .03, {}), 7U);
  EXPECT_EQ(blocks_needed(1e-9, 0, .01, .03, {}), 5U) << "2^-5 < 5 %";
  EXPECT_EQ(blocks_needed(1e-9, std::log(1.3), .01, .03, {.alpha = 1e-5}), std::nullopt);
}

TEST(BlocksNeeded, grow_with_the_number_of_workloads_where_something_is_slower) {
  const auto one = blocks_needed(.2, std::log(1.2), .01, .03, {});
  EXPECT_GT(blocks_needed(.2, std::log(1.2), .01, .03, {}, 40).value(), one.value() + 5);
  EXPECT_EQ(blocks_needed(.2, 0, .01, .03, {}, 40), blocks_needed(.2, 0, .01, .03, {}))
      << "a PASS is each workload's own";
}

// The promise behind the number: four in five trials that end after this many blocks have a
// verdict, and fewer after half as many.
TEST(BlocksNeeded, are_enough_for_four_trials_in_five) {
  constexpr int kTrials = 300;
  for (const double change : {0.0, 0.1}) {
    const double effect = std::log1p(change);
    const std::size_t needed = blocks_needed(0.06, effect, .01, .03, {}).value();
    const auto decided = [&](std::size_t blocks) {
      Noise noise(kSeed);
      const Look end = last_look(blocks, {.01, .05, 256});
      int count = 0;
      for (int trial = 0; trial < kTrials; ++trial) {
        std::vector<double> differences = noise.normals(blocks);
        for (double& each : differences) each = 0.06 * each + effect;
        const bool fails = lower_bound(differences, end.alpha) > std::log1p(.01) &&
                           hodges_lehmann(differences) >= std::log1p(.03);
        count += fails || upper_bound(differences, end.pass_error) < std::log1p(.03);
      }
      return static_cast<double>(count) / kTrials;
    };
    EXPECT_NEAR(decided(needed), 0.8, 0.1) << change << ", " << needed << " blocks";
    EXPECT_LT(decided(needed / 2), 0.65) << change;
  }
}

TEST(BlocksNeeded, grow_with_the_noise_and_as_the_effect_comes_near_to_what_matters) {
  std::size_t before = 2;
  for (double deviation = 0.01; deviation < 0.3; deviation *= 1.5) {
    const std::size_t now = blocks_needed(deviation, 0, .01, .03, {}).value();
    EXPECT_GE(now, before);
    before = now;
  }
  for (double effect = 0; effect < 0.029; effect += 0.004) {
    const std::size_t now = blocks_needed(0.3, effect, .01, .03, {}).value();
    EXPECT_GT(now, before) << effect;
    before = now;
  }
}

TEST(BlocksNeeded, is_empty_when_the_effect_is_at_the_threshold) {
  EXPECT_EQ(blocks_needed(.1, std::log1p(.03) - 1e-9, .01, .03, {}), std::nullopt);
  EXPECT_EQ(blocks_needed(.1, std::log1p(.05) + 1e-9, .05, .03, {}), std::nullopt);
  EXPECT_EQ(blocks_needed(100, 0, 0, .03, {}), std::nullopt);
}

TEST(Power, rejects_what_has_no_meaning) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const TestErrors errors{.005, .2};
  EXPECT_THROW((void)detectable(-1, 8, 0, errors), std::invalid_argument);
  EXPECT_THROW((void)detectable(nan, 8, 0, errors), std::invalid_argument);
  EXPECT_THROW((void)detectable(1, 0, 0, errors), std::invalid_argument);
  EXPECT_THROW((void)detectable(1, 8, -.1, errors), std::invalid_argument);
  EXPECT_THROW((void)detectable(1, 8, 0, {0, .2}), std::invalid_argument);
  EXPECT_THROW((void)detectable(1, 8, 0, {.1, 1}), std::invalid_argument);
  EXPECT_THROW((void)minimum_failing_effect(1, 8, 0, -1, errors), std::invalid_argument);
  EXPECT_THROW((void)blocks_needed(1, 0, 0, nan, {}), std::invalid_argument);
  EXPECT_THROW((void)blocks_needed(kInfinity, 0, 0, .03, {}), std::invalid_argument);
  EXPECT_THROW((void)blocks_needed(1, kInfinity, 0, .03, {}), std::invalid_argument);
}

}  // namespace
}  // namespace taskbench::reports::stats
