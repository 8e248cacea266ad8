#include "reports/render/plot_scale.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "tests/reports/text.hpp"

namespace taskbench::reports::render {
namespace {

constexpr double kTiny = std::numeric_limits<double>::denorm_min();
constexpr double kHuge = std::numeric_limits<double>::max();

std::ptrdiff_t tick_count(const std::string& ticks) { return std::ranges::count(ticks, '\'') / 2; }

TEST(PlotScale, ticks_are_few_whatever_the_range) {
  for (const double least : {1e-12, 3e-7, 0.9, 1.0, 77.7, 1e20}) {
    for (const double factor : {13.0, 499.0, 1e5, 1e10}) {
      const auto count = tick_count(logarithmic_ticks(least, factor * least));
      EXPECT_GE(count, 1) << least << " * " << factor;
      EXPECT_LE(count, 12) << least << " * " << factor;
    }
  }
  EXPECT_LE(tick_count(logarithmic_ticks(1e-12, 1e30)), 12);
  EXPECT_EQ(logarithmic_ticks(0.9, 20), "'1' 1, '2' 2, '5' 5, '10' 10, '20' 20");
  for (const double most : {1e-30, 1e-5, 1.0, 3.0, 99.0, 1e30}) {
    const auto count = tick_count(linear_ticks(0, most));
    EXPECT_GE(count, 2) << most;
    EXPECT_LE(count, 6) << most;
  }
}

TEST(PlotScale, ticks_have_prefixes_and_reach_below_zero) {
  EXPECT_EQ(linear_ticks(0, 5.2e9), "'0' 0, '2 G' 2e+09, '4 G' 4e+09");
  EXPECT_EQ(linear_ticks(-50, 100), "'-50' -50, '0' 0, '50' 50, '100' 100");
}

TEST(PlotScale, extreme_times_are_drawn_at_the_end_of_the_axis_and_that_is_said) {
  Span span;
  for (const double ns : {kTiny, kHuge}) span.take_ns(ns);
  std::vector<std::string> lines;
  const TimeUnit unit = scale_time(lines, 'x', "time", span);
  EXPECT_EQ(unit.name, "ns");
  EXPECT_TRUE(contains(lines.front(), "times beyond it are drawn at its end"));
  EXPECT_TRUE(contains(lines.back(), "set xrange [8.33333e-13:1.2e+30]"));
}

TEST(PlotScale, equal_times_leave_a_range_around_them) {
  for (const double ns : {kTiny, 1.0, 32'625.0, kHuge}) {
    Span span;
    span.take_ns(ns);
    std::vector<std::string> lines;
    (void)scale_time(lines, 'x', "time", span);
    const std::string range = lines.back();
    const auto colon = range.find(':');
    const double low = std::stod(range.substr(range.find('[') + 1));
    EXPECT_LT(low, std::stod(range.substr(colon + 1))) << range;
    EXPECT_GT(low, 0) << range;
  }
}

TEST(PlotScale, large_samples_are_thinned_to_what_spans_them) {
  Sampled sample;
  for (int i = 10'000; i >= 1; --i) sample.values.push_back(i);
  sample.median = 5'000;
  const Sampled drawn = drawable(sample, 100);
  ASSERT_EQ(drawn.values.size(), 100U);
  EXPECT_EQ(drawn.values.front(), 1);
  EXPECT_EQ(drawn.values.back(), 10'000);
  EXPECT_EQ(drawn.median, 5'000);
  EXPECT_EQ(drawable(sample, 10'000).values, sample.values) << "in their own order where all fit";
}

TEST(PlotScale, every_plot_of_extreme_values_is_finite) {
  const std::vector<double> values{kTiny, 1, kHuge, kHuge, kHuge, kHuge, kHuge};
  const Sampled sample = sampled(values);
  const std::vector<Plot> plots{
      distribution_plot("a", "a", "time", {{"row", sample, 1}}),
      overview_plot("b", "b", "time", {"row"}, {{"v", {{0, sample.median, sample.interval}}}}),
      history_plot("c", "c", "time", {{"x", sample, 0}, {"y", sampled({kTiny}), 0}}, {"m"}),
      counters_plot("d", "d", "", {"row"},
                    {{"c", {{{-kHuge, kTiny, kHuge}, kHuge}}}, {"e", {{{kTiny}, kTiny}}}}),
      effect_plot("e", "e",
                  {{"row",
                    verdict::Verdict::fail,
                    kHuge,
                    stats::Interval{-1, kHuge},
                    0.01,
                    0.05,
                    {kHuge, std::numeric_limits<double>::infinity()}}})};
  for (const Plot& plot : plots) {
    for (const std::string& text : {plot.script, plot.data}) {
      EXPECT_FALSE(contains(text, "inf")) << plot.name << text;
      EXPECT_FALSE(contains(text, "nan")) << plot.name;
      EXPECT_FALSE(contains(text, "e+3") && contains(text, "e+308")) << plot.name;
    }
  }
}

}  // namespace
}  // namespace taskbench::reports::render
