#include "reports/render/gnuplot.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

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

TEST(PlotData, counts_its_blocks_and_parts_them_by_two_empty_lines) {
  PlotData data;
  EXPECT_EQ(data.begin_block("first\nplot 'x'", "a  b"), 0);
  data.add({1, 2.5});
  EXPECT_EQ(data.begin_block("second", "a"), 1);
  data.add({3});
  EXPECT_EQ(data.text(),
            "# index 0: first plot 'x'\n# a  b\n1 2.5\n\n\n# index 1: second\n# a\n3\n");
}

TEST(PlotOf, writes_svg_and_png_beside_itself) {
  const Plot plot = plot_of("name", "A title\nwith a second line", 300, {"plot data"}, PlotData());
  EXPECT_TRUE(plot.script.starts_with("# A title with a second line\n"));
  EXPECT_TRUE(contains(plot.script, "data = 'name.dat'\n"));
  EXPECT_TRUE(contains(plot.script, "set output 'name.'.form\n"));
  EXPECT_TRUE(contains(plot.script, "set terminal svg size 900,300 "));
  EXPECT_TRUE(contains(plot.script, "set terminal pngcairo size 1800,600 "));
}

}  // namespace
}  // namespace taskbench::reports::render
