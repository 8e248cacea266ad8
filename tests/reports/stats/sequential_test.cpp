#include "reports/stats/sequential.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

#include "reports/stats/sign_flip.hpp"
#include "reports/stats/walsh.hpp"
#include "tests/reports/stats/noise.hpp"

namespace taskbench::reports::stats {
namespace {

double alpha_of(const std::vector<Look>& table) {
  double sum = 0;
  for (const Look& look : table) sum += look.alpha;
  return sum;
}

double pass_error_of(const std::vector<Look>& table) {
  double sum = 0;
  for (const Look& look : table) sum += look.pass_error;
  return sum;
}

TEST(Looks, of_16_blocks_spend_the_errors_as_specified) {
  const std::vector<Look> table = looks({0.01, 0.05, 16});
  // The least p of 10 blocks is 0.00098.
  constexpr std::array kAlpha = {0.004, 0.0015, 0.0015, 0.0015, 0.0015};
  constexpr std::array kPassError = {0.005, 0.01125, 0.01125, 0.01125, 0.01125};
  constexpr std::array<std::size_t, 5> kBlocks = {8, 10, 11, 13, 16};
  ASSERT_EQ(table.size(), kBlocks.size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(table[i].blocks, kBlocks[i]);
    EXPECT_NEAR(table[i].alpha, kAlpha[i], 1e-15);
    EXPECT_NEAR(table[i].pass_error, kPassError[i], 1e-15);
  }
}

TEST(Looks, of_1000_blocks_leave_what_permits_no_fail_to_the_next) {
  const std::vector<Look> table = looks({0.01, 0.05, 1000});
  constexpr double kEach = 0.006 / 28;  // 29 looks
  ASSERT_EQ(table.size(), 29U);
  EXPECT_EQ(table[1].alpha, 0);  // 10 blocks: the least p is 0.00098
  EXPECT_EQ(table[2].alpha, 0);  // 11
  EXPECT_NEAR(table[3].alpha, 3 * kEach, 1e-15);
  for (std::size_t i = 4; i < table.size(); ++i) EXPECT_NEAR(table[i].alpha, kEach, 1e-15);
}

TEST(Looks, come_four_times_in_each_doubling_and_at_the_most_blocks) {
  const auto blocks = [](std::size_t most) {
    std::vector<std::size_t> result;
    for (const Look& look : looks({0.01, 0.05, most})) result.push_back(look.blocks);
    return result;
  };
  EXPECT_EQ(blocks(1), (std::vector<std::size_t>{1}));
  EXPECT_EQ(blocks(8), (std::vector<std::size_t>{8}));
  EXPECT_EQ(blocks(20), (std::vector<std::size_t>{8, 10, 11, 13, 16, 19, 20}));
  EXPECT_EQ(blocks(128), (std::vector<std::size_t>{8, 10, 11, 13, 16, 19, 23, 27, 32, 38, 45, 54,
                                                   64, 76, 91, 108, 128}));
}

TEST(Looks, spend_just_what_there_is_and_nothing_where_nothing_can_fail) {
  for (const std::size_t most : {1U, 8U, 12U, 64U, 100U, 1000U}) {
    for (const double alpha : {0.03, 0.01, 0.002}) {
      const std::vector<Look> table = looks({alpha, 0.2, most});
      EXPECT_NEAR(alpha_of(table), alpha, 1e-15) << most;
      EXPECT_NEAR(pass_error_of(table), 0.2, 1e-15) << most;
      for (const Look& look : table) {
        if (look.blocks == most) continue;
        EXPECT_TRUE(look.alpha == 0 || look.alpha > least_p(look.blocks)) << look.blocks;
      }
    }
  }
}

TEST(Looks, of_8_blocks_can_fail_and_pass_whatever_is_the_most) {
  const std::vector<std::vector<double>> clear = {{1, 2, 3, 4, 5, 6, 7, 8}};
  const std::array shifts = {0.0};
  for (const std::size_t most : {64U, 256U, 1000U}) {
    const Look first = looks({0.01, 0.05, most}).front();
    EXPECT_LT(sign_flip_test(clear, shifts, Direction::slower, kSeed).p.front(), first.alpha);
    EXPECT_EQ(upper_bound(clear.front(), first.pass_error), 8);
  }
}

TEST(Looks, of_too_few_blocks_for_a_strict_alpha_spend_none_of_it) {
  const std::vector<Look> table = looks({0.001, 0.05, 64});
  EXPECT_EQ(table[0].alpha, 0);  // 8 blocks
  EXPECT_EQ(table[1].alpha, 0);
  EXPECT_NEAR(table[2].alpha, 0.0005, 1e-15);  // 11 blocks: the least p is 0.00049
  EXPECT_NEAR(alpha_of(table), 0.001, 1e-15);
}

// Why a share of alpha is spent at the first look.
TEST(Looks, find_a_great_slowdown_at_the_first_and_a_small_one_no_later_than_at_doublings_only) {
  constexpr int kTrials = 300;
  constexpr double kDeviation = 0.05;
  const auto mean_blocks = [](double slowdown) {
    Noise noise(kSeed);
    double blocks = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<double> d = noise.normals(64);
      for (double& each : d) each = std::log1p(slowdown) + kDeviation * each;
      std::size_t taken = 64;
      for (const Look& look : looks({0.01, 0.05, 64})) {
        const auto end = d.begin() + static_cast<std::ptrdiff_t>(look.blocks);
        const std::vector<std::vector<double>> seen = {{d.begin(), end}};
        const std::array shifts = {std::log1p(0.01)};
        if (sign_flip_test(seen, shifts, Direction::slower, kSeed).p.front() >= look.alpha ||
            hodges_lehmann(seen.front()) < std::log1p(0.03)) {
          continue;
        }
        taken = look.blocks;
        break;
      }
      blocks += static_cast<double>(taken) / kTrials;
    }
    return blocks;
  };
  EXPECT_LT(mean_blocks(0.20), 8.5);   // 16 with looks at doublings only
  EXPECT_LT(mean_blocks(0.10), 12.5);  // 16
}

TEST(LastLook, spends_what_the_looks_before_it_left) {
  const auto last = [](std::size_t blocks) { return last_look(blocks, {0.01, 0.05, 64}); };
  EXPECT_NEAR(last(5).alpha, 0.01, 1e-15);
  EXPECT_NEAR(last(8).alpha, 0.01, 1e-15);
  EXPECT_NEAR(last(9).alpha, 0.006, 1e-15);
  EXPECT_NEAR(last(20).alpha, 0.006 * 7 / 12, 1e-15);  // of 13 looks, 6 are at fewer blocks
  EXPECT_NEAR(last(20).pass_error, 0.045 * 7 / 12, 1e-15);
  EXPECT_NEAR(last(64).alpha, 0.006 / 12, 1e-15);
  EXPECT_EQ(last(65).alpha, 0);
  EXPECT_EQ(last(65).pass_error, 0);
  EXPECT_EQ(last(20).blocks, 20U);
}

// With a budget of 12 blocks: the looks at 8 and at the end. Alpha is large, to get enough false
// alarms.
TEST(Looks, false_alarms_over_all_looks_stay_within_alpha) {
  constexpr int kTrials = 1000;
  constexpr double kAlpha = 0.1;
  constexpr double kPassError = 0.2;
  Noise noise(kSeed);
  int alarms = 0;
  int false_passes = 0;
  const std::array shifts = {0.0};
  for (int trial = 0; trial < kTrials; ++trial) {
    const std::vector<double> all = noise.heavies(12);
    bool alarm = false;
    bool passed = false;
    for (const Look& look :
         {looks({kAlpha, kPassError, 64})[0], last_look(12, {kAlpha, kPassError, 64})}) {
      const auto end = all.begin() + static_cast<std::ptrdiff_t>(look.blocks);
      const std::vector<std::vector<double>> seen = {{all.begin(), end}};
      alarm = alarm ||
              sign_flip_test(seen, shifts, Direction::slower, kSeed).p_adjusted[0] < look.alpha;
      passed = passed || upper_bound(seen[0], look.pass_error) < 0;
    }
    alarms += alarm;
    false_passes += passed;
  }
  EXPECT_LE(alarms, kTrials * (kAlpha + four_errors(kAlpha, kTrials))) << "seed " << kSeed;
  EXPECT_LE(false_passes, kTrials * (kPassError + four_errors(kPassError, kTrials)));
  EXPECT_GE(alarms, kTrials * kAlpha / 2);
  EXPECT_GE(false_passes, kTrials * kPassError / 2);
}

// The end of a trial depends on its data: intervals with the stated level at each single look would
// miss the truth at some look far more often.
TEST(Looks, intervals_by_what_each_may_spend_hold_the_truth_at_all_of_them_as_often_as_stated) {
  constexpr int kTrials = 250;
  constexpr TrialErrors kErrors{0.01, 0.05, 32};
  Noise noise(kSeed);
  int missed = 0;
  int missed_by_plain_ones = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const std::vector<double> all = noise.heavies(32);
    const auto any_misses = [&](const auto& error_of) {
      return std::ranges::any_of(looks(kErrors), [&](const Look& look) {
        const auto interval =
            confidence_interval(std::span(all).first(look.blocks), 1 - 2 * error_of(look));
        return interval.low > 0 || interval.high < 0;
      });
    };
    missed += any_misses([](const Look& look) { return look.pass_error; }) ? 1 : 0;
    missed_by_plain_ones += any_misses([&](const Look&) { return kErrors.pass_error; }) ? 1 : 0;
  }
  EXPECT_LE(missed, 0.10 * kTrials) << "seed " << kSeed;
  EXPECT_GE(missed, 0.02 * kTrials);
  EXPECT_GE(missed_by_plain_ones, 0.15 * kTrials);
}

TEST(Looks, rejects_errors_that_are_none) {
  EXPECT_THROW((void)looks({0, 0.05, 64}), std::invalid_argument);
  EXPECT_THROW((void)looks({0.01, 1, 64}), std::invalid_argument);
  EXPECT_THROW((void)looks({0.01, 0.05, 0}), std::invalid_argument);
  EXPECT_THROW((void)last_look(8, {std::numeric_limits<double>::quiet_NaN(), 0.05, 64}),
               std::invalid_argument);
}

}  // namespace
}  // namespace taskbench::reports::stats
