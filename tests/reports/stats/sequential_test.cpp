#include "reports/stats/sequential.hpp"

#include <gtest/gtest.h>

#include <array>
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

TEST(Looks, spend_the_errors_as_documented) {
  const std::array<Look, 4> table = looks(0.01, 0.05);
  constexpr std::array kAlpha = {0.0005, 0.0015, 0.003, 0.005};
  constexpr std::array kPassError = {0.005, 0.01, 0.015, 0.02};
  constexpr std::array<std::size_t, 4> kBlocks = {8, 16, 32, 64};
  for (std::size_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(table[i].blocks, kBlocks[i]);
    EXPECT_NEAR(table[i].alpha, kAlpha[i], 1e-15);
    EXPECT_NEAR(table[i].pass_error, kPassError[i], 1e-15);
  }
}

TEST(Looks, spend_no_more_than_there_is) {
  double alpha = 0;
  double pass_error = 0;
  for (const Look& look : looks(0.03, 0.2)) {
    alpha += look.alpha;
    pass_error += look.pass_error;
  }
  EXPECT_NEAR(alpha, 0.03, 1e-15);
  EXPECT_NEAR(pass_error, 0.2, 1e-15);
}

TEST(Looks, first_one_can_pass_but_not_fail) {
  const Look first = looks(0.01, 0.05).front();
  const std::vector<std::vector<double>> clear = {{1, 2, 3, 4, 5, 6, 7, 8}};
  const std::array shifts = {0.0};
  EXPECT_GT(sign_flip_test(clear, shifts, Direction::slower, kSeed).p.front(), first.alpha);
  EXPECT_EQ(upper_bound(clear.front(), first.pass_error), 8);
}

TEST(LookIndex, is_known_at_the_looks_only) {
  EXPECT_EQ(look_index(8), 0U);
  EXPECT_EQ(look_index(16), 1U);
  EXPECT_EQ(look_index(32), 2U);
  EXPECT_EQ(look_index(64), 3U);
  for (const std::size_t blocks : {0U, 1U, 7U, 9U, 24U, 63U, 65U, 128U}) {
    EXPECT_EQ(look_index(blocks), std::nullopt);
  }
}

TEST(LastLook, spends_what_the_looks_before_it_left) {
  EXPECT_NEAR(last_look(5, 0.01, 0.05).alpha, 0.01, 1e-15);
  EXPECT_NEAR(last_look(8, 0.01, 0.05).alpha, 0.01, 1e-15);
  EXPECT_NEAR(last_look(9, 0.01, 0.05).alpha, 0.0095, 1e-15);
  EXPECT_NEAR(last_look(20, 0.01, 0.05).alpha, 0.008, 1e-15);
  EXPECT_NEAR(last_look(20, 0.01, 0.05).pass_error, 0.035, 1e-15);
  EXPECT_NEAR(last_look(64, 0.01, 0.05).alpha, 0.005, 1e-15);
  EXPECT_EQ(last_look(65, 0.01, 0.05).alpha, 0);
  EXPECT_EQ(last_look(65, 0.01, 0.05).pass_error, 0);
  EXPECT_EQ(last_look(20, 0.01, 0.05).blocks, 20U);
}

// With a budget of 12 blocks: the looks at 8 and at the end. A generous alpha, for trials enough.
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
    for (const Look& look : {looks(kAlpha, kPassError)[0], last_look(12, kAlpha, kPassError)}) {
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

TEST(Looks, rejects_errors_that_are_none) {
  EXPECT_THROW((void)looks(0, 0.05), std::invalid_argument);
  EXPECT_THROW((void)looks(0.01, 1), std::invalid_argument);
  EXPECT_THROW((void)last_look(8, std::numeric_limits<double>::quiet_NaN(), 0.05),
               std::invalid_argument);
}

}  // namespace
}  // namespace taskbench::reports::stats
