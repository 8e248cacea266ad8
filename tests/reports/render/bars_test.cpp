#include "reports/render/bars.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "reports/render/columns.hpp"
#include "tests/reports/text.hpp"

namespace taskbench::reports::render {
namespace {

TEST(Bars, reach_to_a_hundred_per_cent_and_mark_what_lies_beyond) {
  for (const double change : {4.6, 1e6, 1e308, std::numeric_limits<double>::infinity()}) {
    const Bar row{.name = "a", .change = change, .low = 0.5, .high = change, .threshold = 0.03};
    const std::vector<std::string> lines = text_lines(bars(std::vector{row}, 0.95));
    EXPECT_TRUE(lines[0].ends_with("+100.0 %")) << lines[0];
    expect_parts(lines[0], {" -100.0 %"});
    expect_parts(lines[1], {"->  "});
  }
}

TEST(Bars, an_interval_that_goes_on_beyond_the_edge_is_marked_there) {
  const std::vector<Bar> rows{
      {.name = "inside", .change = 0.02, .low = 0.01, .high = 0.03, .threshold = 0.03},
      {.name = "above", .change = 0.02, .low = 0.01, .high = 0.5, .threshold = 0.03},
      {.name = "both", .change = 0.02, .low = -0.5, .high = 0.5, .threshold = 0.03},
      {.name = "unknown", .change = 0.02, .threshold = 0.03}};
  const std::vector<std::string> lines = text_lines(bars(rows, 0.95));
  const auto marks = [&](std::size_t row) {
    return std::pair(lines[row].find('<') != std::string::npos,
                     lines[row].find("->") != std::string::npos);
  };
  EXPECT_EQ(marks(1), std::pair(false, false));
  EXPECT_EQ(marks(2), std::pair(false, true));
  EXPECT_EQ(marks(3), std::pair(true, true));
  EXPECT_EQ(marks(4), std::pair(true, true));
  EXPECT_TRUE(contains(lines.back(), "< > goes on beyond the edge"));
  EXPECT_FALSE(contains(bars(std::vector{rows[0]}, 0.95), "goes on"));
}

TEST(Bars, the_verdict_stands_before_the_bar_where_no_narrow_page_cuts_it_off) {
  const Bar row{.name = "a", .change = 0.01, .threshold = 0.03, .verdict = "INCONCLUSIVE"};
  EXPECT_TRUE(text_lines(bars(std::vector{row}, 0.95))[1].starts_with("a  INCONCLUSIVE  "));
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
