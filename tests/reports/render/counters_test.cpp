#include "reports/render/counters.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "reports/json/reader.hpp"
#include "reports/json/writer.hpp"
#include "reports/render/columns.hpp"
#include "reports/render/render.hpp"
#include "tests/reports/printed.hpp"
#include "tests/reports/sample_runs.hpp"
#include "tests/reports/text.hpp"

namespace taskbench::reports::render {
namespace {

TEST(counters_test, run_that_was_not_asked_to_count_has_no_table) {
  EXPECT_FALSE(counter_table(samples::complete_run()));
}

TEST(counters_test, events_stand_beside_the_counters_of_the_scheduler) {
  const auto table = counter_table(samples::counted_run());
  ASSERT_TRUE(table);
  const auto cells = [&](std::size_t row) {
    std::vector<std::string> texts;
    for (const Cell& cell : table->table.rows.at(row).cells) texts.push_back(cell.text);
    return texts;
  };
  using Cells = std::vector<std::string>;
  EXPECT_EQ(table->table.rows[0].group, "chained_spawn/work_stealing/workers:2");
  EXPECT_EQ(cells(0),
            (Cells{"branch-misses", "1,200", "0.8 %", "1.20", "3", "user only, 48 % of the time"}));
  EXPECT_EQ(cells(1), (Cells{"task-clock, ns", "61,000", "0.8 %", "61.0", "3", ""}));
  EXPECT_EQ(cells(2), (Cells{"page-faults", "n/a", "–", "–", "0", ""}));
  EXPECT_EQ(cells(3), (Cells{"steals", "0.31", "0.0 %", "0.00031", "9", "scheduler's"}));
  EXPECT_EQ(table->table.rows.size(), 14U);
}

TEST(counters_test, what_no_case_could_count_is_told_once_with_the_reason) {
  const auto table = counter_table(samples::counted_run());
  ASSERT_TRUE(table);
  const std::vector<std::string> expected{
      "n/a: cycles, instructions: not supported by this machine.",
      "page-faults of chained_spawn/work_stealing/workers:2: not counted.",
      "page-faults of ping_pong/work_stealing/workers:2: perf stat hung."};
  EXPECT_EQ(table->missing, expected);
}

TEST(counters_test, nothing_counted_is_one_sentence) {
  model::Run run = samples::counted_run();
  run.counter_pass->unavailable = "perf is not installed";
  const auto table = counter_table(run);
  ASSERT_TRUE(table);
  EXPECT_TRUE(table->table.rows.empty());
  EXPECT_EQ(table->missing,
            std::vector<std::string>{"Nothing was counted: perf is not installed."});
}

TEST(counters_test, table_and_markdown_hold_them) {
  const std::string narrow = table(samples::counted_run(), {false, 80});
  for (const std::string& text :
       {table(samples::counted_run(), {false, 100}), as_markdown(samples::counted_run())}) {
    expect_parts(text, {"task-clock, ns", "48 % of the time",
                        "n/a: cycles, instructions: not supported", "perf version 6.1.192"});
  }
  for (const std::string& line : text_lines(narrow)) EXPECT_LE(display_width(line), 80U);
}

TEST(counters_test, csv_has_columns_of_its_own_after_all_others) {
  const std::string text = as_csv(samples::counted_run());
  const std::string header = text_lines(text).at(0);
  EXPECT_TRUE(contains(header, ",error,cycles_per_iteration,cycles_mad,cycles_unit,"));
  const auto fields = std::ranges::count(header, ',');
  const std::string row = text_lines(text).at(1);
  EXPECT_EQ(std::ranges::count(row, ','), fields);
  expect_parts(row, {",,,,0,,false,not supported by this machine,", ",1200,10,,3,0.48,true,,"});
  EXPECT_FALSE(contains(as_csv(samples::complete_run()), "_share"));
}

TEST(counters_test, json_reads_back) {
  const model::Run run = samples::counted_run();
  const auto file = json::parse_result_file("r.json", json::to_json(run));
  ASSERT_EQ(file.cases.size(), 2U);
  const auto& events = file.cases[1].events;
  ASSERT_EQ(events.size(), run.cases[1].events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    const model::EventCount& written = run.cases[1].events[i];
    EXPECT_EQ(events[i].event, written.event);
    EXPECT_EQ(events[i].unit, written.unit);
    EXPECT_EQ(events[i].per_iteration, written.per_iteration);
    EXPECT_EQ(events[i].counted_share, written.counted_share);
    EXPECT_EQ(events[i].user_only, written.user_only);
    EXPECT_EQ(events[i].unavailable, written.unavailable);
  }
}

TEST(counters_test, rows_of_google_benchmark_are_as_without_them) {
  model::Run run = samples::counted_run();
  const std::string with = json::to_json(run);
  run.counter_pass.reset();
  const std::string without = json::to_json(run);
  const auto rows = [](const std::string& text) {
    return text.substr(0, text.find("\"taskbench\": {"));
  };
  EXPECT_EQ(rows(with), rows(without));
  EXPECT_FALSE(contains(without, "events_per_iteration"));
}

}  // namespace
}  // namespace taskbench::reports::render
