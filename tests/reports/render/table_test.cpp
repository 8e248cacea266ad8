#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "reports/render/columns.hpp"
#include "reports/render/render.hpp"
#include "tests/reports/printed.hpp"
#include "tests/reports/sample_runs.hpp"
#include "tests/reports/text.hpp"

namespace taskbench::reports::render {
namespace {

std::string without_colours(const std::string& text) {
  return std::regex_replace(text, std::regex("\x1b\\[[0-9;]*m"), "");
}

TEST(Table, of_one_scheduler_has_a_line_a_workload) {
  const std::string text = table(samples::complete_run(), {false, 100});
  const std::string expected =
      "taskbench 0.1.0 · work_stealing, 2 workers\n"
      "\n"
      "workload         median  ± MAD  ± MAD  per op        CPU  switches  steals  parks  wakes  "
      "overflows\n"
      "                     µs     µs      %      ns         µs     /iter   /iter  /iter  /iter  "
      "    /iter\n"
      "──────────────────────────────────────────────────────────────────────────────────────────"
      "─────────\n"
      "chained_spawn     60.12   0.48    0.8   60.12      61.33      2.02    0.31   0.98   1.00  "
      "        0\n"
      "ping_pong        310.46   2.48    0.8   310.5     530.88      4.24    12.4   3.20   3.22  "
      "        0\n"
      "spawn_many     1,034.57   8.28    0.8   103.5   1,686.35      6.65    41.7   5.61   5.63  "
      "     72.5\n"
      "spawn_local      812.35   6.50    0.8   81.23   1,527.21      2.11     103   1.07   1.09  "
      "     72.5\n"
      "yield_many     5,123.46  40.99    0.8   25.62  10,093.21      3.00     212   1.96   1.98  "
      "     72.5\n"
      "\n"
      "median: wall time of one iteration; per op: of one spawn (chained_spawn, spawn_many, "
      "spawn_local),\n";
  EXPECT_EQ(text.substr(0, expected.size()), expected);
}

TEST(Table, of_several_schedulers_groups_by_workload) {
  const std::string text = table(samples::several_schedulers_run(), {false, 100});
  EXPECT_TRUE(text.starts_with("taskbench 0.1.0\n\n"));
  EXPECT_TRUE(contains(text, "\nchained_spawn\n  work_stealing ×1      72.75 "));
  EXPECT_TRUE(contains(text, "\n  current_thread ×1    257.68 "));
}

TEST(Table, has_full_titles_where_there_is_room) {
  const std::string text = table(samples::complete_run(), {false, 110});
  expect_parts(text, {"switches  steals  parks  wakes  overflows", "overflows: full local queues"});
  EXPECT_FALSE(contains(text, "ovfl"));
}

TEST(Table, puts_counters_into_a_second_block_where_room_is_short) {
  const std::vector<std::string> lines = text_lines(table(samples::complete_run(), {false, 80}));
  EXPECT_EQ(lines[2], "workload         median  ± MAD  ± MAD  per op        CPU");
  EXPECT_EQ(lines[11], "workload       switches  steals  parks  wakes  overflows");
  EXPECT_EQ(lines[14], "chained_spawn      2.02    0.31   0.98   1.00          0");
}

TEST(Table, no_line_is_wider_than_asked_for) {
  for (const samples::NamedRun& sample : samples::all()) {
    for (int width = 50; width <= 130; width += 7) {
      for (const bool draws : {false, true}) {
        for (const std::string& line :
             text_lines(table(sample.make(), {.width = width, .draws = draws}))) {
          EXPECT_LE(display_width(line), static_cast<std::size_t>(width))
              << sample.name << " at " << width << ": " << line;
        }
      }
    }
  }
}

TEST(Table, numbers_of_a_column_end_at_the_same_place) {
  for (const int width : {80, 100, 120}) {
    std::size_t data_width = 0;
    for (const std::string& line :
         text_lines(table(samples::several_schedulers_run(), {false, width}))) {
      if (contains(line, "───")) {
        data_width = display_width(line);
      } else if (contains(line, " ×")) {
        EXPECT_EQ(display_width(line), data_width) << line;
        EXPECT_NE(line.back(), ' ');
      }
    }
    EXPECT_GT(data_width, 0U);
  }
}

TEST(Table, shows_distributions_where_they_cost_no_other_column) {
  const auto has_it = [](int width) {
    const std::string text = table(samples::complete_run(), {.width = width, .draws = true});
    return contains(text, "distrib") && contains(text, "█");
  };
  EXPECT_TRUE(has_it(80));
  EXPECT_FALSE(has_it(100));  // it would need a second block of lines
  EXPECT_TRUE(has_it(120));
  EXPECT_FALSE(contains(table(samples::complete_run(), {false, 120}), "█"));
  EXPECT_FALSE(
      contains(table(samples::single_repetition_run(), {.width = 120, .draws = true}), "█"));
}

TEST(Table, absurd_widths_are_borne) {
  for (const int width : {0, -5, 1}) {
    EXPECT_TRUE(contains(table(samples::complete_run(), {false, width}), "chained_spawn"));
  }
  EXPECT_TRUE(contains(table(samples::complete_run(), {false, 1'000'000}), "overflows"));
}

TEST(Table, colours_change_nothing_but_the_colours) {
  for (const samples::NamedRun& sample : samples::all()) {
    const std::string coloured = table(sample.make(), {true, 100});
    EXPECT_TRUE(contains(coloured, "\x1b[1m")) << sample.name;
    const std::string plain = table(sample.make(), {false, 100});
    EXPECT_EQ(without_colours(coloured), plain) << sample.name;
    EXPECT_FALSE(contains(plain, "\x1b")) << sample.name;
    ASSERT_GE(plain.size(), 2U);
    EXPECT_EQ(plain.back(), '\n');
    EXPECT_NE(plain[plain.size() - 2], '\n') << sample.name;
  }
}

TEST(Table, spread_is_yellow_above_five_and_red_above_ten_percent) {
  model::Run run = samples::partial_run();
  run.cases.resize(2);
  for (model::Case& measured : run.cases) measured.repetitions.resize(2);
  run.cases[0].repetitions[1].real_ns = run.cases[0].repetitions[0].real_ns * 1.15;
  run.cases[1].repetitions[1].real_ns = run.cases[1].repetitions[0].real_ns * 1.5;
  const std::string text = table(run, {true, 100});
  EXPECT_TRUE(contains(text, "\x1b[33m7.0\x1b[0m")) << text;
  EXPECT_TRUE(contains(text, "\x1b[1;31m20.0\x1b[0m")) << text;
  EXPECT_FALSE(contains(table(samples::complete_run(), {true, 100}), "\x1b[3"));
}

TEST(Table, says_what_has_no_number_and_what_means_little) {
  expect_parts(table(samples::failed_run(), {false, 100}),
               {"\nFAILED ping_pong/work_stealing/workers:2: 999 of 1,000 partners"});
  EXPECT_FALSE(contains(table(samples::failed_run(), {false, 100}), "\nping_pong "));
  expect_parts(table(samples::partial_run(), {false, 100}),
               {"\nPARTIAL: ended early", "median of 2 to 3 repetitions",
                "\nNOT MEASURED yield_many/work_stealing/workers:2:"});
  EXPECT_TRUE(contains(table(samples::single_repetition_run(), {false, 100}),
                       "chained_spawn   60.12      –      –   60.12  60.72         –\n"));
  model::Run run = samples::complete_run();
  EXPECT_FALSE(contains(table(run, {false, 100}), "Debug"));
  run.environment.build_type = "Debug";
  EXPECT_TRUE(contains(table(run, {false, 100}), "This is a Debug build"));
  EXPECT_EQ(table(samples::empty_run(), {false, 100}),
            "taskbench 0.1.0\n\nNothing was measured.\n");
}

TEST(Table, says_with_which_parameters_and_on_what_machine) {
  model::Run run = samples::complete_run();
  run.cases[0].name += "/tasks:500";
  expect_parts(table(run, {false, 200}),
               {"\nchained_spawn tasks:500  ",
                "\nOn Intel(R) Xeon(R) Processor @ 2.00GHz, 2 CPUs, virtual (kvm), "});
}

}  // namespace
}  // namespace taskbench::reports::render
