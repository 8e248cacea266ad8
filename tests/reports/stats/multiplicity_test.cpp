#include "reports/stats/multiplicity.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <limits>
#include <stdexcept>
#include <vector>

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

TEST(Holm, is_between_p_and_bonferroni) {
  const Values p = {.3, .001, .02, .02, 1, 0, .7};
  const Values adjusted = holm(p);
  const Values cautious = bonferroni(p);
  for (std::size_t i = 0; i < p.size(); ++i) {
    EXPECT_GE(adjusted[i], p[i]);
    EXPECT_LE(adjusted[i], cautious[i]);
  }
}

TEST(Bonferroni, multiplies_up_to_one) {
  expect_close(bonferroni(Values{.01, .04, .5}), {.03, .12, 1});
}

TEST(Sidak, is_exact_for_independent_tests) {
  expect_close(sidak(Values{.5, 0, 1}), {.875, 0, 1});
  // Of a p so small, 1 - p is rounded to 1.
  EXPECT_NEAR(sidak(Values{1e-20, 1}).front(), 2e-20, 1e-30);
}

TEST(Multiplicity, single_test_is_left_alone) {
  EXPECT_EQ(holm(Values{.2}), (Values{.2}));
  EXPECT_EQ(bonferroni(Values{.2}), (Values{.2}));
  expect_close(sidak(Values{.2}), {.2});
}

TEST(Multiplicity, rejects_what_is_no_probability) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto adjust : {bonferroni, sidak, holm}) {
    EXPECT_THROW((void)adjust(Values{}), std::invalid_argument);
    EXPECT_THROW((void)adjust(Values{.1, nan}), std::invalid_argument);
    EXPECT_THROW((void)adjust(Values{1.1}), std::invalid_argument);
    EXPECT_THROW((void)adjust(Values{-.1}), std::invalid_argument);
  }
}

}  // namespace
}  // namespace taskbench::reports::stats
