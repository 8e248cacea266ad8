// Levels fitted to differences, compared with numpy's least squares.
#include "reports/stats/levels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>

namespace taskbench::reports::stats {
namespace {

TEST(Levels, of_two_members_are_the_mean_difference_whatever_its_direction) {
  const auto levels = fitted_levels(2, std::vector<PairDifference>{{0, 1, 0.05}, {1, 0, -0.03}});
  EXPECT_NEAR(levels[0], -0.02, 1e-15);
  EXPECT_NEAR(levels[1], 0.02, 1e-15);
}

// numpy 1.24.2: a = zeros((6, 4)); a[k, to] = 1, a[k, from] = -1; numpy.linalg.lstsq(a, d)[0], the
// solution with the least norm, and therefore with mean 0.
TEST(Levels, agree_with_numpy) {
  const auto levels = fitted_levels(4, std::vector<PairDifference>{{0, 1, 0.071},
                                                                   {1, 2, -0.042},
                                                                   {2, 3, -0.021},
                                                                   {3, 0, -0.003},
                                                                   {0, 2, 0.018},
                                                                   {3, 1, 0.029}});
  const std::vector<double> expected{-0.023000000000000003, 0.03549999999999999,
                                     -0.0007499999999999833, -0.01174999999999999};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(levels[i], expected[i], 1e-14) << i;
}

TEST(Levels, are_found_exactly_where_the_differences_agree) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  for (std::size_t members = 2; members < 20; ++members) {
    std::vector<double> truth(members);
    for (double& level : truth) level = normal(random);
    std::vector<PairDifference> differences;
    for (std::size_t i = 1; i < members; ++i) {  // a tree: just enough
      const std::size_t other = random() % i;
      differences.push_back({i, other, truth[other] - truth[i]});
    }
    std::ranges::shuffle(differences, random);
    const auto levels = fitted_levels(members, differences);
    for (std::size_t i = 0; i < members; ++i) {
      EXPECT_NEAR(levels[i] - levels[0], truth[i] - truth[0], 1e-12) << members;
    }
  }
}

TEST(Levels, without_a_link_between_all_members_are_refused) {
  using Differences = std::vector<PairDifference>;
  EXPECT_THROW((void)fitted_levels(1, Differences{}), std::invalid_argument);
  EXPECT_THROW((void)fitted_levels(2, Differences{}), std::invalid_argument);
  EXPECT_THROW((void)fitted_levels(2, Differences{{0, 0, 1}}), std::invalid_argument);
  EXPECT_THROW((void)fitted_levels(2, Differences{{0, 2, 1}}), std::invalid_argument);
  EXPECT_THROW((void)fitted_levels(4, Differences{{0, 1, 1}, {2, 3, 1}}), std::invalid_argument);
  EXPECT_THROW((void)fitted_levels(3, Differences{{0, 1, 1}, {1, 0, 1}}), std::invalid_argument);
}

}  // namespace
}  // namespace taskbench::reports::stats
