// Differences between groups: compared with a published analysis of variance, and for made-up
// groups.
#include "reports/stats/heterogeneity.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace taskbench::reports::stats {
namespace {

using Rows = std::vector<std::vector<double>>;

// Box, Hunter and Hunter, Statistics for Experimenters, table 6.1: coagulation times of the blood
// of animals on four diets. Mean squares 76.0 between (3 degrees of freedom) and 5.6 within (20).
TEST(heterogeneity_test, the_deviation_is_that_of_the_mean_squares) {
  const Rows rows{{62, 60, 63, 59, 63, 67, 71, 64, 65, 66, 68, 66,
                   71, 67, 68, 68, 56, 62, 60, 61, 63, 64, 63, 59}};
  const std::vector<std::size_t> diets{0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2,
                                       2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3};
  const auto found = heterogeneity(rows, diets, 1);
  const double typical_size = (24 - (16 + 36 + 36 + 64) / 24.0) / 3;
  EXPECT_NEAR(found[0].deviation, std::sqrt((76.0 - 5.6) / typical_size), 1e-9);
  EXPECT_LT(found[0].p_adjusted, 0.005);
  EXPECT_DOUBLE_EQ(deviation_between(rows[0], diets), found[0].deviation);
}

TEST(heterogeneity_test, groups_that_mean_nothing_seldom_differ_in_any_of_several_workloads) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  constexpr int kTrials = 200;
  int found = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    Rows rows(3, std::vector<double>(16));
    std::vector<std::size_t> groups(16);
    for (std::size_t i = 0; i < 16; ++i) {
      groups[i] = i % 4;
      for (auto& row : rows) row[i] = normal(random);
    }
    bool any = false;
    for (const auto& each : heterogeneity(rows, groups, 1)) any = any || each.p_adjusted <= 0.05;
    found += any ? 1 : 0;
  }
  EXPECT_LE(found, 20);  // 10 are expected; more than 20 have a chance of 0.2 %
  EXPECT_GE(found, 2);
}

TEST(heterogeneity_test, one_group_or_groups_of_one_tell_nothing) {
  EXPECT_EQ(heterogeneity(Rows{{1, 2, 3}}, {5, 5, 5}, 1)[0].p_adjusted, 1);
  EXPECT_EQ(heterogeneity(Rows{{1, 2, 3}}, {0, 1, 2}, 1)[0].p_adjusted, 1);
  EXPECT_EQ(heterogeneity(Rows{{2, 2, 2, 2}}, {0, 0, 1, 1}, 1)[0].p_adjusted, 1);
  EXPECT_THROW((void)heterogeneity(Rows{{1, 2}}, {0}, 1), std::invalid_argument);
  EXPECT_EQ(deviation_between({1, 2, 3}, {5, 5, 5}), 0);
  EXPECT_EQ(deviation_between({1, 2, 3}, {0, 1, 2}), 0);
  EXPECT_THROW((void)deviation_between({1, 2}, {0}), std::invalid_argument);
}

}  // namespace
}  // namespace taskbench::reports::stats
