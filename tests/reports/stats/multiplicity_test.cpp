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

TEST(Holm, is_between_p_and_bonferronis) {
  const Values p = {.3, .001, .02, .02, 1, 0, .7};
  const Values adjusted = holm(p);
  for (std::size_t i = 0; i < p.size(); ++i) {
    EXPECT_GE(adjusted[i], p[i]);
    EXPECT_LE(adjusted[i], static_cast<double>(p.size()) * p[i]);
  }
  EXPECT_EQ(holm(Values{.2}), (Values{.2}));
}

TEST(Holm, rejects_what_is_no_probability) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Values& p : {Values{}, {.1, nan}, {1.1}, {-.1}}) {
    EXPECT_THROW((void)holm(p), std::invalid_argument);
  }
}

}  // namespace
}  // namespace taskbench::reports::stats
