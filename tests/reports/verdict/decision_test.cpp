#include "reports/verdict/decision.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace taskbench::reports::verdict {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Thresholds kThresholds{.epsilon = 0.01, .delta = 0.03, .alpha = 0.005};

struct Row {
  std::string what;
  double change;  ///< the estimate, relative
  double p_slower;
  double p_faster;
  double upper_change;  ///< the bound, relative
  Verdict verdict;
  bool improved;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.what; }

class DecisionTable : public testing::TestWithParam<Row> {};

TEST_P(DecisionTable, gives_the_verdict) {
  const Row& row = GetParam();
  const Evidence evidence{std::log1p(row.change), row.p_slower, row.p_faster,
                          std::log1p(row.upper_change)};
  const Decision decision = decide(evidence, kThresholds);
  EXPECT_EQ(decision.verdict, row.verdict);
  EXPECT_EQ(decision.improved, row.improved);
}

constexpr Verdict kPass = Verdict::pass;
constexpr Verdict kFail = Verdict::fail;
constexpr Verdict kInconclusive = Verdict::inconclusive;

INSTANTIATE_TEST_SUITE_P(
    Cases, DecisionTable,
    testing::Values(
        Row{"slower, sure", 0.10, 0.001, 1, 0.2, kFail, false},
        Row{"slower by just delta", 0.03, 0.001, 1, 0.2, kFail, false},
        Row{"significant, too small to matter", 0.029, 0.001, 1, 0.04, kInconclusive, false},
        Row{"significant, surely too small to matter", 0.02, 0.001, 1, 0.029, kPass, false},
        Row{"much slower, not sure", 0.50, 0.006, 1, 0.9, kInconclusive, false},
        Row{"p just alpha", 0.10, 0.005, 1, 0.2, kInconclusive, false},
        Row{"no change", 0, 0.7, 0.7, 0.01, kPass, false},
        Row{"no change, bound just delta", 0, 0.7, 0.7, 0.03, kInconclusive, false},
        Row{"no change, too few blocks for a bound", 0, 0.7, 0.7, kInfinity, kInconclusive, false},
        Row{"faster, sure", -0.10, 1, 0.001, -0.05, kPass, true},
        Row{"faster, sure, but no bound", -0.10, 1, 0.001, kInfinity, kPass, true},
        Row{"faster, sure, but not of other layouts", -0.10, 1, 0.001, 0.05, kInconclusive, false},
        Row{"faster, not sure", -0.10, 1, 0.006, 0.01, kPass, false},
        Row{"faster, not sure at all", -0.10, 1, 0.006, 0.05, kInconclusive, false},
        Row{"faster by too little to matter", -0.02, 1, 0.001, 0.01, kPass, false},
        Row{"faster by just less than delta mirrored", 1 / 1.0299 - 1, 1, 0.001, 0, kPass, false},
        Row{"faster by just more than delta mirrored", 1 / 1.0301 - 1, 1, 0.001, 0, kPass, true}));

TEST(Decision, delta_is_never_below_epsilon) {
  const Evidence evidence{std::log1p(0.05), 0.001, 1, std::log1p(0.08)};
  EXPECT_EQ(decide(evidence, {.epsilon = 0.01, .delta = 0.03, .alpha = 0.01}).verdict, kFail);
  EXPECT_EQ(decide(evidence, {.epsilon = 0.06, .delta = 0.03, .alpha = 0.01}).verdict,
            kInconclusive);
  EXPECT_EQ(decide(evidence, {.epsilon = 0.09, .delta = 0.03, .alpha = 0.01}).verdict, kPass);
}

TEST(Decision, nothing_fails_when_no_alpha_is_left) {
  EXPECT_EQ(decide({0.5, 0, 1, kInfinity}, {.epsilon = 0, .delta = 0.03, .alpha = 0}).verdict,
            kInconclusive);
}

TEST(Decision, is_blind_where_neither_its_power_nor_its_interval_tells_of_five_times_delta) {
  EXPECT_TRUE(is_blind(kInconclusive, 0.2, 0.16, 0.03));
  EXPECT_TRUE(is_blind(kInconclusive, std::nullopt, std::nullopt, 0.03));
  EXPECT_FALSE(is_blind(kInconclusive, 0.14, 0.16, 0.03));
  EXPECT_FALSE(is_blind(kInconclusive, 0.2, 0.101, 0.03)) << "the interval excludes 15 %";
  EXPECT_FALSE(is_blind(kPass, std::nullopt, std::nullopt, 0.03));
}

TEST(Decision, rejects_unsound_evidence) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Evidence> unsound = {
      {nan, 0.5, 0.5, 1}, {-kInfinity, 0.5, 0.5, 1}, {0, nan, 0.5, 1},   {0, 0.5, nan, 1},
      {0, 1.5, 0.5, 1},   {0, 0.5, -0.1, 1},         {0, 0.5, 0.5, nan}, {0.1, 0.5, 0.5, 0.09999},
  };
  for (const Evidence& evidence : unsound) {
    EXPECT_THROW((void)decide(evidence, kThresholds), std::invalid_argument);
  }
  const Evidence sound{0, 0.5, 0.5, 1};
  for (const Thresholds& thresholds :
       {Thresholds{-0.1, 0.03, 0.01}, Thresholds{nan, 0.03, 0.01}, Thresholds{0, -1, 0.01},
        Thresholds{0, kInfinity, 0.01}, Thresholds{0, 0.03, 1}, Thresholds{0, 0.03, nan}}) {
    EXPECT_THROW((void)decide(sound, thresholds), std::invalid_argument);
  }
}

TEST(ThresholdsAskedFor, of_a_fall_ask_for_as_much_of_base_over_head) {
  const Thresholds rise = thresholds_asked_for(0.2, false, 0.01);
  EXPECT_DOUBLE_EQ(rise.delta, 0.2);
  EXPECT_DOUBLE_EQ(rise.epsilon, 0.01);
  const Thresholds fall = thresholds_asked_for(0.2, true, 0.01);
  EXPECT_DOUBLE_EQ(fall.delta, 0.25) << "100 falls to 80";
  EXPECT_DOUBLE_EQ(thresholds_asked_for(0.015, false, 0.01).epsilon, 0.005)
      << "the floor of times hides at most a third";
}

}  // namespace
}  // namespace taskbench::reports::verdict
