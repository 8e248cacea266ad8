#include "reports/render/bars.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "reports/render/columns.hpp"
#include "tests/reports/text.hpp"

namespace taskbench::reports::render {
namespace {

TEST(Bars, a_change_beyond_all_measure_ends_at_the_edge) {
  for (const double change : {1e6, 1e308, std::numeric_limits<double>::infinity()}) {
    const Bar row{.name = "a", .change = change, .threshold = 0.03};
    expect_parts(bars(std::vector{row}, 0.95), {"#", "+100000.0 %"});
  }
}

using Values = std::vector<double>;

TEST(Sparkline, is_a_histogram_from_the_least_to_the_greatest) {
  EXPECT_EQ(sparkline(Values{0, 0, 0, 0, 0, 0, 0, 0, 1, 4}, 4), "█▁ ▁");
  EXPECT_EQ(sparkline(Values{1, 2, 3, 4}, 4), "████");
  EXPECT_EQ(sparkline(Values{7, 7, 7}, 5), "  █  ") << "equal values stand in the middle";
  EXPECT_EQ(sparkline(Values{}, 5), "");
  EXPECT_EQ(sparkline(Values{1}, 0), "");
}

TEST(Sparkline, shows_a_single_value_among_thousands) {
  Values values(9'999, 1.0);
  values.push_back(2);
  EXPECT_EQ(sparkline(values, 3), "█ ▁");
}

TEST(Sparkline, has_the_width_that_was_asked_for) {
  for (std::size_t cells = 1; cells < 20; ++cells) {
    EXPECT_EQ(display_width(sparkline(Values{3, 1, 4, 1, 5, 9, 2, 6}, cells)), cells);
  }
}

}  // namespace

}  // namespace taskbench::reports::render
