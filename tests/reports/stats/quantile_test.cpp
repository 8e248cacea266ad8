#include "reports/stats/quantile.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <vector>

#include "reports/stats/summary.hpp"

namespace taskbench::reports::stats {
namespace {

using Values = std::vector<double>;

// >>> np.quantile([7, 1, 3.5, 12, 4, 4, 9.25], [0, .1, .25, .5, .75, .9, .99, 1])   # NumPy 1.24.2
TEST(Quantile, equals_numpys) {
  const Values values = {7, 1, 3.5, 12, 4, 4, 9.25};
  const Values p = {0, .1, .25, .5, .75, .9, .99, 1};
  const Values expected = {1, 2.5, 3.75, 4, 8.125, 10.35, 11.835, 12};
  for (std::size_t i = 0; i < p.size(); ++i) {
    EXPECT_NEAR(quantile(values, p[i]), expected[i], 1e-13) << p[i];
  }
}

TEST(Quantile, half_is_the_median) {
  EXPECT_EQ(quantile(Values{40, 1, 2, 3}, 0.5), median(Values{40, 1, 2, 3}));
  EXPECT_EQ(quantile(Values{3.25}, 0.99), 3.25);
}

TEST(Quantile, rejects_what_it_cannot_use) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)quantile(Values{}, 0.5), std::invalid_argument);
  EXPECT_THROW((void)quantile(Values{1, nan}, 0.5), std::invalid_argument);
  EXPECT_THROW((void)quantile(Values{1}, -0.1), std::invalid_argument);
  EXPECT_THROW((void)quantile(Values{1}, 99), std::invalid_argument);
  EXPECT_THROW((void)quantile(Values{1}, nan), std::invalid_argument);
}

}  // namespace
}  // namespace taskbench::reports::stats
