#include "reports/stats/floor.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace taskbench::reports::stats {
namespace {

TEST(floor_summary, of_many_samples) {
  model::FloorFigure figure{"x", "x", {}};
  for (int i = 100; i >= 0; --i) figure.ns.push_back(i);
  const auto summary = summarize(figure);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->median, 50);
  EXPECT_EQ(summary->min, 0);
  EXPECT_EQ(summary->lower_quartile, 25);
  EXPECT_EQ(summary->upper_quartile, 75);
  EXPECT_EQ(summary->p99, 99);
}

TEST(floor_summary, few_samples_have_no_99th_percentile_and_one_no_spread) {
  const auto few = summarize(model::FloorFigure{"x", "x", {1, 2, 3}});
  ASSERT_TRUE(few);
  EXPECT_EQ(few->upper_quartile, 2.5);
  EXPECT_EQ(few->p99, std::nullopt);
  const auto one = summarize(model::FloorFigure{"x", "x", {7}});
  ASSERT_TRUE(one);
  EXPECT_EQ(one->median, 7);
  EXPECT_EQ(one->lower_quartile, std::nullopt);
}

TEST(floor_summary, of_nothing_or_nonsense_is_none) {
  EXPECT_FALSE(summarize(model::FloorFigure{"x", "x", {}, "interrupted"}));
  EXPECT_FALSE(
      summarize(model::FloorFigure{"x", "x", {1, std::numeric_limits<double>::infinity()}}));
}

}  // namespace
}  // namespace taskbench::reports::stats
