#include "reports/render/bars.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace taskbench::reports::render {
namespace {

TEST(Bars, a_change_beyond_all_measure_ends_at_the_edge) {
  for (const double change : {1e6, 1e308, std::numeric_limits<double>::infinity()}) {
    Bar row;
    row.name = "a";
    row.change = change;
    row.threshold = 0.03;
    const std::string text = bars(std::vector{row}, 0.95);
    EXPECT_NE(text.find("#"), std::string::npos);
    EXPECT_NE(text.find("+100000.0 %"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace taskbench::reports::render
