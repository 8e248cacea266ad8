#include "reports/render/gnuplot.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reports/render/plots.hpp"
#include "tests/reports/text.hpp"

namespace taskbench::reports::render {
namespace {

TEST(Gnuplot, strings_cannot_be_left) {
  EXPECT_EQ(gnuplot_string("it's `rm` \"x\" \\"), "'it''s `rm` \"x\" \\'");
  EXPECT_EQ(gnuplot_string("a\nb"), "'a b'");
  EXPECT_FALSE(contains(gnuplot_string("a\x1b[31m\xff"), "\x1b"));
}

TEST(Gnuplot, a_per_cent_sign_in_a_tick_is_no_format) {
  EXPECT_EQ(gnuplot_tick("100 %d", 3), "'100 %%d' 3");
}

TEST(PlotName, keeps_what_is_harmless) {
  EXPECT_EQ(plot_name("distribution", "chained_spawn"), "distribution-chained_spawn");
  EXPECT_EQ(plot_name("effects", ""), "effects");
}

TEST(PlotName, is_a_harmless_file_name_whatever_the_subject) {
  for (const std::string subject :
       {"../../etc/passwd", "a/b", "A", "", ".", "x y", "<i>\"&'", "ü", "\xff\xfe", "-rf"}) {
    const std::string name = plot_name("kind", subject);
    EXPECT_TRUE(name.starts_with("kind")) << name;
    EXPECT_TRUE(std::ranges::all_of(name, [](char each) {
      return (each >= 'a' && each <= 'z') || (each >= '0' && each <= '9') || each == '-' ||
             each == '_';
    })) << name;
  }
  EXPECT_LE(plot_name("kind", std::string(5'000, 'x')).size(), 80U);
}

TEST(PlotName, differs_where_subjects_differ) {
  const std::string long_one(200, 'x');
  std::set<std::string> names;
  const std::vector<std::string> subjects{"a/b",  "a b",  "a-b",    "A-b",
                                          "a--b", "a/b/", long_one, long_one + "y"};
  for (const std::string& subject : subjects) names.insert(plot_name("kind", subject));
  EXPECT_EQ(names.size(), subjects.size());
}

TEST(PlotName, is_the_same_in_every_run) {
  EXPECT_EQ(plot_name("history", "ping_pong/work_stealing/workers:2"),
            "history-ping_pong-work_stealing-workers-2-7b554c70");
}

TEST(PlotScript, counts_its_blocks_and_parts_them_by_two_empty_lines) {
  PlotScript script("name", "A title\nwith a second line");
  EXPECT_EQ(script.begin_block("first\nplot 'x'", "a  b"), 0);
  script.point({1, 2.5});
  EXPECT_EQ(script.begin_block("second", "a"), 1);
  script.point({3});
  script.draw("index {}", 0);
  script.draw("index 1");
  script.plot();
  const Plot plot = std::move(script).finished(300);
  EXPECT_EQ(plot.data, "# index 0: first plot 'x'\n# a  b\n1 2.5\n\n\n# index 1: second\n# a\n3\n");
  EXPECT_TRUE(plot.script.starts_with("# A title with a second line\n"));
  for (const char* part :
       {"data = 'name.dat'\n", "set output 'name.'.form\n", "set terminal svg size 900,300 ",
        "set terminal pngcairo size 1800,600 ", "plot data index 0, \\\n     data index 1\n"}) {
    EXPECT_TRUE(contains(plot.script, part)) << part;
  }
}

constexpr double kTiny = std::numeric_limits<double>::denorm_min();
constexpr double kHuge = std::numeric_limits<double>::max();

std::ptrdiff_t tick_count(const std::string& ticks) { return std::ranges::count(ticks, '\'') / 2; }

std::pair<TimeUnit, std::string> scale_of(const Span& span) {
  PlotScript script("name", "title");
  const TimeUnit unit = script.scale_time('x', "time", span);
  return {unit, std::move(script).finished(100).script};
}

TEST(PlotScript, ticks_are_few_whatever_the_range) {
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

TEST(PlotScript, ticks_have_prefixes_and_reach_below_zero) {
  EXPECT_EQ(linear_ticks(0, 5.2e9), "'0' 0, '2 G' 2e+09, '4 G' 4e+09");
  EXPECT_EQ(linear_ticks(-50, 100), "'-50' -50, '0' 0, '50' 50, '100' 100");
}

TEST(PlotScript, extreme_times_are_drawn_at_the_end_of_the_axis_and_that_is_said) {
  Span span;
  for (const double ns : {kTiny, kHuge}) span.take_ns(ns);
  const auto [unit, script] = scale_of(span);
  EXPECT_EQ(unit.name, "ns");
  EXPECT_TRUE(contains(script, "times beyond it are drawn at its end"));
  EXPECT_TRUE(contains(script, "set xrange [8.33333e-13:1.2e+30]"));
}

TEST(PlotScript, equal_times_leave_a_range_around_them) {
  for (const double ns : {kTiny, 1.0, 32'625.0, kHuge}) {
    Span span;
    span.take_ns(ns);
    const std::string script = scale_of(span).second;
    const std::string range = script.substr(script.find("set xrange"));
    const auto colon = range.find(':');
    const double low = std::stod(range.substr(range.find('[') + 1));
    EXPECT_LT(low, std::stod(range.substr(colon + 1))) << range;
    EXPECT_GT(low, 0) << range;
  }
}

TEST(PlotScript, large_samples_are_thinned_to_what_spans_them) {
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

TEST(PlotScript, every_plot_of_extreme_values_is_finite) {
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
