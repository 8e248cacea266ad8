#include <gtest/gtest.h>

#include <string>

#include "reports/render/render.hpp"
#include "tests/reports/printed.hpp"
#include "tests/reports/sample_runs.hpp"
#include "tests/reports/text.hpp"

namespace taskbench::reports::render {
namespace {

/// Counts the bars that separate cells, not those that are escaped.
std::size_t cells_of(const std::string& line) {
  std::size_t bars = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\') ? 1U : 0U;
  }
  return bars - 1;
}

TEST(Markdown, has_the_columns_of_the_table_with_units_and_numbers_to_the_right) {
  const std::string expected =
      "# taskbench 0.1.0 · work_stealing, 2 workers\n\n"
      "| workload | median, µs | ± MAD, µs | ± MAD, % | per op, ns | CPU, µs "
      "| switches/iter | steals/iter | parks/iter | wakes/iter | overflows/iter |\n"
      "|:--|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n"
      "| chained_spawn | 60.12 | 0.48 | 0.8 | 60.12 | 61.33 | 2.02 | 0.31 | "
      "0.98 | 1.00 | 0 |\n";
  EXPECT_EQ(as_markdown(samples::complete_run()).substr(0, expected.size()), expected);
}

TEST(Markdown, every_line_of_the_table_has_as_many_cells_as_the_header) {
  for (const samples::NamedRun& sample : samples::all()) {
    std::size_t cells = 0;
    for (const std::string& line : text_lines(as_markdown(sample.make()))) {
      if (!line.starts_with('|')) {
        cells = 0;  // another table may follow
        continue;
      }
      cells = cells == 0 ? cells_of(line) : cells;
      EXPECT_EQ(cells_of(line), cells) << sample.name << ": " << line;
    }
  }
}

TEST(Markdown, text_from_outside_cannot_break_it) {
  const std::string text = as_markdown(samples::hostile_run());
  EXPECT_TRUE(contains(text, "said \"no\", then<br>stopped \\| "));
  model::Run run = samples::complete_run();
  run.cases[0].workload = "a|b<c>*d*`e`";
  EXPECT_TRUE(contains(as_markdown(run), "| a\\|b&lt;c>\\*d\\*\\`e\\` |"));
}

TEST(Markdown, names_what_has_no_number_explains_itself_and_names_the_machine) {
  expect_parts(as_markdown(samples::failed_run()),
               {"\n\n**Failed** ping_pong/work_stealing/workers:2: 999 of"});
  expect_parts(as_markdown(samples::partial_run()),
               {"\n\n**Partial**: ended early", "\n\n**Not measured** yield_many/"});
  expect_parts(as_markdown(samples::complete_run()),
               {"\n\nEach figure is the median of 9 repetitions;",
                "\n\nOn Intel(R) Xeon(R) Processor @ 2.00GHz, 2 CPUs"});
  EXPECT_EQ(as_markdown(samples::empty_run()), "# taskbench 0.1.0\n\nNothing was measured.\n");
}

}  // namespace
}  // namespace taskbench::reports::render
