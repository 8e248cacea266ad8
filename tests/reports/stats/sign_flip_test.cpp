#include "reports/stats/sign_flip.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "reports/stats/split_mix.hpp"
#include "tests/reports/stats/noise.hpp"
#include "tests/reports/stats/published.hpp"

namespace taskbench::reports::stats {
namespace {

using Values = std::vector<double>;
using Table = std::vector<Values>;

SignFlipResult slower(const Table& differences, const Values& shifts, std::uint64_t seed = kSeed) {
  return sign_flip_test(differences, shifts, Direction::slower, seed);
}

double p_of(const Values& differences, double shift = 0) {
  return slower({differences}, {shift}).p.front();
}

/// Three workloads of seven blocks, with a shift for each.
const Table kThree = {{.021, -.004, .013, .030, .008, .017, -.002},
                      {.002, .011, -.009, .004, .015, -.001, .006},
                      {.05, .02, -.07, .03, .09, .04, .01}};
const Values kShifts = {.003, .001, .01};

/// Workloads that share much of their noise, each of a different size and one of them quiet.
Table correlated_noise(Noise& noise, std::size_t workloads, std::size_t blocks) {
  const Values common = noise.heavies(blocks);
  Table table(workloads, Values(blocks));
  for (std::size_t w = 0; w < workloads; ++w) {
    for (std::size_t i = 0; i < blocks; ++i) {
      table[w][i] = std::pow(10.0, w) * (common[i] + 0.5 * noise.heavy());
    }
  }
  return table;
}

// >>> scipy.stats.wilcoxon(darwin, alternative='greater', mode='exact').pvalue   # SciPy 1.10.1
// 0.0206298828125
TEST(SignFlip, is_the_exact_signed_rank_test_on_darwins_plants) {
  EXPECT_EQ(p_of(kDarwin), 0.0206298828125);
}

// Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, example 3.1: Hamilton's
// depression scores of nine patients before and after tranquillisers; T+ = 40, p = 0.020.
// >>> scipy.stats.wilcoxon(before, after, alternative='greater', mode='exact').pvalue
// 0.01953125
TEST(SignFlip, equals_the_published_p_of_the_depression_scores) {
  const Values before = {1.83, .50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30};
  const Values after = {.878, .647, .598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};
  Values improvement;
  for (std::size_t i = 0; i < before.size(); ++i) improvement.push_back(before[i] - after[i]);
  EXPECT_EQ(p_of(improvement), 0.01953125);
}

// >>> v = np.array([2, 2, -1, 0, 5, -2, 3, 3, 0, 7.])
// >>> scipy.stats.permutation_test((v,), lambda v, axis: np.sum(np.sign(v) *
// ...     scipy.stats.rankdata(abs(v), axis=axis), axis=axis), permutation_type='samples',
// ...     n_resamples=np.inf, alternative='greater').pvalue
// 0.0390625
TEST(SignFlip, takes_ties_and_zeros_into_account) {
  EXPECT_EQ(p_of({2, 2, -1, 0, 5, -2, 3, 3, 0, 7}), 0.0390625);
}

// >>> for sign in (1, -1):
// ...     e = sign * d - s[:, None]
// ...     x = np.sign(e) * scipy.stats.rankdata(abs(e), axis=1)
// ...     x, y = (v / np.sqrt((v**2).sum(1, keepdims=True)) for v in (x, e))
// ...     G = np.array(list(itertools.product([1, -1], repeat=7)))
// ...     T, U, o, u = G @ x.T, G @ y.T, x.sum(1), y.sum(1)
// ...     order = sorted(range(3), key=lambda w: (-o[w], -u[w]))
// ...     p, least = [0] * 3, 0
// ...     for j, w in enumerate(order):
// ...         hit = T[:, w] >= o[w] - 1e-12
// ...         for v in order[j:]:
// ...             hit |= T[:, v] > o[w] + 1e-12
// ...             hit |= (abs(T[:, v] - o[w]) < 1e-12) & (U[:, v] >= u[w] - 1e-12)
// ...         p[w] = least = max(least, hit.mean())
// ...     print([(T[:, w] >= o[w] - 1e-12).mean() for w in range(3)], p)
// [0.0625, 0.15625, 0.140625] [0.1484375, 0.203125, 0.203125]
// [0.9921875, 0.9375, 0.9296875] [1.0, 1.0, 1.0]
TEST(SignFlip, equals_a_plain_enumeration_for_three_workloads) {
  const SignFlipResult up = slower(kThree, kShifts);
  EXPECT_EQ(up.p, (Values{0.0625, 0.15625, 0.140625}));
  EXPECT_EQ(up.p_adjusted, (Values{0.1484375, 0.203125, 0.203125}));
  const SignFlipResult down = sign_flip_test(kThree, kShifts, Direction::faster, kSeed);
  EXPECT_EQ(down.p, (Values{0.9921875, 0.9375, 0.9296875}));
  EXPECT_EQ(down.p_adjusted, (Values{1, 1, 1}));
}

TEST(SignFlip, smallest_p_is_one_of_all_patterns) {
  EXPECT_EQ(p_of(Values(1, 2.0)), 0.5);
  EXPECT_EQ(p_of({1, 2, 3, 4, 5, 6, 7, 8}), 1.0 / 256);
  EXPECT_EQ(p_of(Values(16, 1.0)), 1.0 / 65536);
  EXPECT_EQ(p_of(Values(17, 1.0)), 1.0 / 10001);
  EXPECT_EQ(p_of({-1, -2, -3}), 1);
}

TEST(SignFlip, differences_equal_to_the_shift_have_p_one) {
  const SignFlipResult result = slower({Values(8, 0.5), Values(8, 0.5)}, {0.5, 0.25});
  EXPECT_EQ(result.p, (Values{1, 1.0 / 256}));
  EXPECT_EQ(result.p_adjusted, (Values{1, 1.0 / 256}));
}

TEST(SignFlip, faster_is_slower_of_the_negated_differences) {
  Noise noise(kSeed);
  for (const std::size_t blocks : {8U, 20U}) {
    const Table table = correlated_noise(noise, 3, blocks);
    Table negated = table;
    for (Values& row : negated) {
      std::transform(row.begin(), row.end(), row.begin(), std::negate<>());
    }
    const Values shifts = {0.1, 2, 0};
    const SignFlipResult faster = sign_flip_test(table, shifts, Direction::faster, kSeed);
    EXPECT_EQ(faster.p, slower(negated, shifts).p);
    EXPECT_EQ(faster.p_adjusted, slower(negated, shifts).p_adjusted);
  }
}

TEST(SignFlip, unit_of_a_workload_does_not_matter) {
  Noise noise(kSeed);
  for (const std::size_t blocks : {9U, 24U}) {
    Table table = correlated_noise(noise, 3, blocks);
    Values shifts = {0.1, 0.2, 0.3};
    const SignFlipResult before = slower(table, shifts);
    for (double& value : table[1]) value *= 1e-6;
    shifts[1] *= 1e-6;
    EXPECT_EQ(slower(table, shifts).p, before.p);
    EXPECT_EQ(slower(table, shifts).p_adjusted, before.p_adjusted);
  }
}

TEST(SignFlip, order_of_workloads_orders_the_result) {
  Noise noise(kSeed);
  for (const std::size_t blocks : {8U, 20U}) {
    const Table table = correlated_noise(noise, 3, blocks);
    const SignFlipResult before = slower(table, {0, 0.1, 0.2});
    const SignFlipResult after = slower({table[2], table[0], table[1]}, {0.2, 0, 0.1});
    EXPECT_EQ(after.p, (Values{before.p[2], before.p[0], before.p[1]}));
    EXPECT_EQ(after.p_adjusted,
              (Values{before.p_adjusted[2], before.p_adjusted[0], before.p_adjusted[1]}));
  }
}

TEST(SignFlip, order_of_blocks_does_not_matter_to_an_exact_test) {
  Noise noise(kSeed);
  Table table = correlated_noise(noise, 3, 11);
  const SignFlipResult before = slower(table, {0, 0, 0});
  for (Values& row : table) std::rotate(row.begin(), row.begin() + 4, row.end());
  EXPECT_EQ(slower(table, {0, 0, 0}).p, before.p);
  EXPECT_EQ(slower(table, {0, 0, 0}).p_adjusted, before.p_adjusted);
}

TEST(SignFlip, seed_decides_only_on_random_flips) {
  Noise noise(kSeed);
  const Table sixteen = {noise.normals(16)};
  EXPECT_EQ(slower(sixteen, {0}, 1).p, slower(sixteen, {0}, 2).p);
  const Table seventeen = {noise.normals(17)};
  EXPECT_EQ(slower(seventeen, {0}, 1).p, slower(seventeen, {0}, 1).p);
  EXPECT_NE(slower(seventeen, {0}, 1).p, slower(seventeen, {0}, 2).p);
}

// The same seed must give the same verdict on every machine and with every compiler. The exact p is
// 0.44786273904719565 (SciPy as above). The count comes from a script that knows only the rule: one
// number of SplitMix64 per flip, whose bit i flips the sign of block i.
TEST(SignFlip, random_flips_are_the_same_everywhere) {
  Values values;
  for (int i = 1; i <= 39; ++i) values.push_back(i % 2 == 1 ? i : -i);
  EXPECT_NEAR(slower({values}, {0}, 1).p.front(), 0.44786, four_errors(0.44786, 10000));
  EXPECT_EQ(slower({values}, {0}, 1).p.front(), 4515.0 / 10001);
}

// Flips each block one by one, following the rule: no other implementation of maxT over ranks with
// these ties exists to compare with.
TEST(SignFlip, many_blocks_at_once_count_as_each_by_itself) {
  Noise noise(kSeed);
  for (const std::size_t blocks : {17U, 64U, 70U}) {
    Table table = correlated_noise(noise, 2, blocks);
    for (double& each : table[0]) each = std::round(each);  // ties, and zeros
    std::vector<std::vector<double>> ranks(2, Values(blocks));
    for (std::size_t w = 0; w < 2; ++w) {
      for (std::size_t i = 0; i < blocks; ++i) {
        double doubled = 1;
        for (std::size_t j = 0; j < blocks; ++j) {
          const double size = std::abs(table[w][i]);
          doubled +=
              (std::abs(table[w][j]) < size ? 1 : 0) + (std::abs(table[w][j]) <= size ? 1 : 0);
        }
        ranks[w][i] = table[w][i] == 0 ? 0 : std::copysign(doubled, table[w][i]);
      }
    }
    std::vector<double> reached(2, 1);
    SplitMix64 random(5);
    for (std::size_t flip = 0; flip < kRandomFlips; ++flip) {
      std::vector<std::uint64_t> bits((blocks + 63) / 64);
      for (std::uint64_t& each : bits) each = random.next();
      for (std::size_t w = 0; w < 2; ++w) {
        double lost = 0;  // from the observed sum
        for (std::size_t i = 0; i < blocks; ++i) {
          lost += (bits[i / 64] >> (i % 64) & 1) != 0 ? ranks[w][i] : 0;
        }
        reached[w] += lost <= 0 ? 1 : 0;
      }
    }
    const SignFlipResult result = slower(table, {0, 0}, 5);
    for (std::size_t w = 0; w < 2; ++w) EXPECT_EQ(result.p[w], reached[w] / (kRandomFlips + 1.0));
  }
}

TEST(SignFlip, what_lies_far_off_has_no_score_on_either_side) {
  const Values eight = {.01, .02, .03, .04, .05, .06, .07, 9};
  const auto p = [](const Values& values) {
    const Table table = {values};
    return sign_flip_test(table, Values{0}, Direction::slower, kSeed, 0, 5).p.front();
  };
  EXPECT_EQ(p_of(eight), 1.0 / 256);
  EXPECT_EQ(p(eight), 2.0 / 256);  // as for the seven others
  Values other = eight;
  other.back() = -9;
  EXPECT_EQ(p(other), 2.0 / 256);
  other.back() = 0.2;  // less than five times the median
  EXPECT_EQ(p(other), 1.0 / 256);
}

TEST(SignFlip, adjusted_p_is_at_least_p_and_at_most_bonferronis) {
  Noise noise(kSeed);
  for (int trial = 0; trial < 60; ++trial) {
    const std::size_t blocks = trial % 10 == 0 ? 18 : 9;
    const Table table = correlated_noise(noise, 4, blocks);
    const SignFlipResult result = slower(table, Values(4, 0));
    for (std::size_t w = 0; w < 4; ++w) {
      EXPECT_GE(result.p_adjusted[w], result.p[w]);
      EXPECT_LE(result.p_adjusted[w], 4 * result.p[w]);
    }
  }
}

TEST(SignFlip, copies_of_a_workload_cost_nothing) {
  const SignFlipResult result = slower(Table(5, kDarwin), Values(5, 0));
  EXPECT_EQ(result.p_adjusted, result.p);
}

TEST(SignFlip, p_is_superuniform_when_nothing_has_changed) {
  constexpr int kTrials = 4000;
  constexpr std::array kLevels = {1.0 / 256, 0.01, 0.05, 0.25, 0.5};
  Noise noise(kSeed);
  std::array<int, kLevels.size()> reached{};
  for (int trial = 0; trial < kTrials; ++trial) {
    Values differences = noise.heavies(8);
    for (double& difference : differences) difference += 0.7;
    const double p = p_of(differences, 0.7);
    for (std::size_t i = 0; i < kLevels.size(); ++i) reached[i] += p <= kLevels[i] ? 1 : 0;
  }
  for (std::size_t i = 0; i < kLevels.size(); ++i) {
    const double rate = static_cast<double>(reached[i]) / kTrials;
    EXPECT_LE(rate, kLevels[i] + four_errors(kLevels[i], kTrials)) << "seed " << kSeed;
    // The test is not needlessly conservative either: the p-values of 8 blocks are at most 0.03
    // apart.
    EXPECT_GE(rate, kLevels[i] - 0.03 - four_errors(kLevels[i], kTrials)) << "seed " << kSeed;
  }
}

TEST(SignFlip, rarely_any_of_several_workloads_gives_a_false_alarm) {
  constexpr int kTrials = 3000;
  constexpr double kAlpha = 0.05;
  Noise noise(kSeed);
  int alarms = 0;
  int unadjusted_alarms = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const SignFlipResult result = slower(correlated_noise(noise, 6, 8), Values(6, 0));
    alarms += *std::min_element(result.p_adjusted.begin(), result.p_adjusted.end()) <= kAlpha;
    unadjusted_alarms += *std::min_element(result.p.begin(), result.p.end()) <= kAlpha;
  }
  EXPECT_LE(alarms, kTrials * (kAlpha + four_errors(kAlpha, kTrials))) << "seed " << kSeed;
  EXPECT_GE(alarms, kTrials * kAlpha / 2) << "cautious without need, seed " << kSeed;
  EXPECT_GE(unadjusted_alarms, kTrials * kAlpha * 1.5) << "the adjustment had nothing to do";
}

TEST(SignFlip, a_real_change_does_not_make_its_neighbours_alarms) {
  constexpr int kTrials = 1500;
  constexpr double kAlpha = 0.05;
  Noise noise(kSeed);
  int false_alarms = 0;
  int found = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    Table table = correlated_noise(noise, 4, 8);
    for (double& difference : table[1]) difference += 1000;
    const SignFlipResult result = slower(table, Values(4, 0));
    found += result.p_adjusted[1] <= kAlpha;
    false_alarms += result.p_adjusted[0] <= kAlpha || result.p_adjusted[2] <= kAlpha ||
                    result.p_adjusted[3] <= kAlpha;
  }
  EXPECT_LE(false_alarms, kTrials * (kAlpha + four_errors(kAlpha, kTrials))) << "seed " << kSeed;
  EXPECT_GE(found, 0.99 * kTrials);
}

/// The number of workloads of each kind; those without a change come last.
struct Mixture {
  std::size_t slower;
  std::size_t faster;
  std::size_t unchanged;
};

// The chance that an unchanged workload is called slower is as promised, whatever else has changed,
// in whatever direction: at a level of many patterns, and at one of so few that the comparison of
// workloads with equal ranks decides.
TEST(SignFlip, step_by_step_no_unchanged_workload_is_a_false_alarm_more_often_than_promised) {
  constexpr std::size_t kBlocks = 8;
  for (const auto& [mixture, alpha, trials] :
       {std::tuple{Mixture{4, 2, 4}, 0.05, 2500}, std::tuple{Mixture{0, 4, 10}, 0.05, 1500},
        std::tuple{Mixture{10, 0, 10}, 0.0098, 2500},
        std::tuple{Mixture{0, 0, 20}, 0.0098, 2500}}) {
    Noise noise(kSeed);
    int alarms = 0;
    for (int trial = 0; trial < trials; ++trial) {
      const Values common = noise.heavies(kBlocks);
      Table table;
      for (std::size_t w = 0; w < mixture.slower + mixture.faster + mixture.unchanged; ++w) {
        const double effect = w < mixture.slower                    ? 1.0 + static_cast<double>(w)
                              : w < mixture.slower + mixture.faster ? -2.0
                                                                    : 0.01;
        Values row = w % 2 == 0 ? noise.heavies(kBlocks) : noise.normals(kBlocks);
        for (std::size_t i = 0; i < kBlocks; ++i) row[i] += 0.5 * common[i] + effect;
        table.push_back(std::move(row));
      }
      const SignFlipResult result = slower(table, Values(table.size(), 0.01));
      const auto unchanged = static_cast<std::ptrdiff_t>(mixture.slower + mixture.faster);
      alarms +=
          *std::min_element(result.p_adjusted.begin() + unchanged, result.p_adjusted.end()) < alpha
              ? 1
              : 0;
    }
    EXPECT_LE(alarms, trials * (alpha + four_errors(alpha, trials)))
        << mixture.slower << " slower, seed " << kSeed;
    EXPECT_GE(alarms, trials * alpha / 8) << "cautious without need, seed " << kSeed;
  }
}

// Twenty of forty workloads are 30 % slower. With ranks alone, no p_adjusted of eleven blocks would
// be below 21 / 2^11 = 0.0103, since each of the others has a pattern that turns all of it upwards.
TEST(SignFlip, a_great_change_stands_out_among_many_workloads_after_few_blocks) {
  Noise noise(kSeed);
  Table table;
  for (int w = 0; w < 40; ++w) {
    Values row = noise.normals(11);
    for (double& each : row) each = 0.05 * each + (w < 20 ? std::log(1.3) : 0);
    table.push_back(std::move(row));
  }
  const SignFlipResult result = slower(table, Values(table.size(), std::log(1.01)));
  for (std::size_t w = 0; w < 40; ++w) {
    if (w < 20) {
      EXPECT_LT(result.p_adjusted[w], 0.0098 / 4) << w;
    } else {
      EXPECT_GT(result.p_adjusted[w], 0.05) << w;
    }
  }
}

/// The share of trials with a false alarm among 12 workloads, if only the 3 that seem slower after
/// 8 blocks are measured to the end, and `absent` others are counted.
double alarms_after_a_screen(bool is_heavy, std::size_t absent, double alpha) {
  constexpr int kTrials = 1500;
  Noise noise(kSeed);
  int alarms = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const Values common = noise.normals(12);
    Table table;
    for (int w = 0; w < 12; ++w) {
      Values row = is_heavy ? noise.heavies(12) : noise.normals(12);
      for (std::size_t i = 0; i < row.size(); ++i) row[i] += 0.5 * common[i];
      table.push_back(std::move(row));
    }
    std::ranges::sort(table, std::greater(), [](const Values& row) {
      return std::accumulate(row.begin(), row.begin() + 8, 0.0);
    });
    table.resize(3);
    const auto result = sign_flip_test(table, Values(3, 0), Direction::slower, kSeed, absent);
    alarms += std::ranges::min(result.p_adjusted) <= alpha ? 1 : 0;
  }
  return static_cast<double>(alarms) / kTrials;
}

TEST(SignFlip, workloads_that_seemed_unchanged_may_stay_away_if_they_are_counted) {
  constexpr double kAlpha = 0.05;
  for (const bool is_heavy : {false, true}) {
    const double rate = alarms_after_a_screen(is_heavy, 9, kAlpha);
    EXPECT_LE(rate, kAlpha + four_errors(kAlpha, 1500)) << is_heavy;
    EXPECT_GE(rate, kAlpha / 4) << "cautious without need: " << is_heavy;
    EXPECT_GE(alarms_after_a_screen(is_heavy, 0, kAlpha), 2 * kAlpha) << "nothing to count";
  }
}

TEST(SignFlip, an_absent_workload_adds_the_chance_of_the_ranks_exactly) {
  const Table table{
      {1, 2, 3, 4, 5, -0.5, 6, 7, 8, 9}};  // one negative value, of the least rank: 2 of 2^10
  const auto with = [&](std::size_t absent) {
    return sign_flip_test(table, Values{0}, Direction::slower, kSeed, absent).p_adjusted[0];
  };
  EXPECT_DOUBLE_EQ(with(0), 2.0 / 1024);
  EXPECT_DOUBLE_EQ(with(1), 4.0 / 1024);
  EXPECT_DOUBLE_EQ(with(9), 20.0 / 1024);
  EXPECT_DOUBLE_EQ(with(5000), 1);
  EXPECT_DOUBLE_EQ(least_p(10, 3), 4.0 / 1024);
}

TEST(SignFlip, rejects_what_it_cannot_test) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THROW((void)slower({}, {}), std::invalid_argument);
  EXPECT_THROW((void)slower({{}}, {0}), std::invalid_argument);
  EXPECT_THROW((void)slower({{1, nan}}, {0}), std::invalid_argument);
  EXPECT_THROW((void)slower({{1, infinity}}, {0}), std::invalid_argument);
  EXPECT_THROW((void)slower({{1, 2}}, {nan}), std::invalid_argument);
  EXPECT_THROW((void)slower({{1, 2}}, {}), std::invalid_argument);
  EXPECT_THROW((void)slower({{1, 2}}, {0, 0}), std::invalid_argument);
  EXPECT_THROW((void)slower({{1, 2}, {1}}, {0, 0}), std::invalid_argument);
}

}  // namespace
}  // namespace taskbench::reports::stats
