#include "reports/render/figures.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/reports/sample_runs.hpp"
#include "tests/reports/text.hpp"

namespace taskbench::reports::render {
namespace {

TEST(Figures, group_by_workload_in_order_of_appearance_however_cases_are_interleaved) {
  model::Run run = samples::several_schedulers_run();
  std::swap(run.cases[1], run.cases[5]);
  const Figures shown = figures(run);
  ASSERT_EQ(shown.groups.size(), 4U);
  EXPECT_EQ(shown.groups[0].workload, "chained_spawn");
  EXPECT_EQ(shown.groups[1].workload, "ping_pong");
  EXPECT_EQ(shown.groups[0].rows.size(), 3U);
  EXPECT_EQ(shown.groups[1].rows.size(), 3U);
}

TEST(Figures, every_row_has_a_cell_a_column) {
  for (const samples::NamedRun& sample : samples::all()) {
    const model::Run run = sample.make();
    const Figures shown = figures(run);
    for (const Group& group : shown.groups) {
      for (const Row& row : group.rows) {
        EXPECT_EQ(row.cells.size(), shown.columns.size()) << sample.name;
      }
    }
  }
}

TEST(Figures, counters_that_nobody_counted_have_no_column) {
  const model::Run run = samples::single_repetition_run();
  EXPECT_EQ(figures(run).columns.size(), 6U);
  EXPECT_EQ(figures(run).columns.back().title, "switches");
  EXPECT_EQ(figures(run).groups[0].rows[0].cells.back(), "–");
}

TEST(Figures, failed_and_unmeasured_cases_have_no_row) {
  const model::Run failed = samples::failed_run();
  EXPECT_EQ(figures(failed).groups.size(), 1U);
  ASSERT_EQ(figures(failed).failed.size(), 1U);
  EXPECT_EQ(figures(failed).failed[0]->workload, "ping_pong");
  const model::Run partial = samples::partial_run();
  ASSERT_EQ(figures(partial).unmeasured.size(), 1U);
  EXPECT_EQ(figures(partial).unmeasured[0]->workload, "yield_many");
}

TEST(Observations, of_each_workload_that_has_some_are_a_table_of_their_own) {
  const model::Run run = samples::observed_run();
  const std::vector<Figures> tables = observations(run);
  ASSERT_EQ(tables.size(), 1U);
  std::vector<std::string_view> titles;
  for (const Column& column : tables[0].columns) titles.push_back(column.title);
  EXPECT_EQ(titles, (std::vector<std::string_view>{"lead_yields", "wait_p99", "wait_p99_9"}));
  const auto& rows = tables[0].groups.at(0).rows;
  EXPECT_EQ(rows.at(0).cells, (std::vector<std::string>{"56.8", "12.35 µs", "–"}));
  EXPECT_EQ(rows.at(1).cells, (std::vector<std::string>{"56.8", "12.35 µs", "4.321 ms"}));
}

TEST(Figures, rare_counters_have_a_column_only_where_they_counted) {
  const auto columns = [](double hand_offs) {
    model::Run run = samples::complete_run();
    for (model::Case& each : run.cases) {
      for (auto& repetition : each.repetitions) repetition.counters["hand_offs"] = hand_offs;
    }
    return std::string(figures(run).columns.back().title);
  };
  EXPECT_EQ(columns(0), "overflows");
  EXPECT_EQ(columns(0.5), "hand-offs");
}

TEST(ChangedParameters, are_what_the_name_says_after_the_workers) {
  model::Case measured;
  measured.workload = "chained_spawn";
  measured.scheduler = "work_stealing";
  measured.workers = 2;
  measured.name = "chained_spawn/work_stealing/workers:2";
  EXPECT_EQ(changed_parameters(measured), "");
  measured.name += "/depth:500/width:3";
  EXPECT_EQ(changed_parameters(measured), "depth:500 width:3");
  measured.name = "something_else";
  EXPECT_EQ(changed_parameters(measured), "");
}

TEST(Explanation, says_how_many_repetitions_each_figure_rests_on) {
  for (const auto& [run, begin] :
       {std::pair{samples::complete_run(), "Each figure is the median of 9 repetitions;"},
        {samples::partial_run(), "Each figure is the median of 2 to 3 repetitions;"},
        {samples::single_repetition_run(), "Each figure rests on a single repetition"}}) {
    EXPECT_TRUE(explanation(figures(run), false)[0].starts_with(begin)) << begin;
  }
}

TEST(Explanation, uses_the_titles_that_the_reader_sees) {
  const model::Run run = samples::complete_run();
  EXPECT_TRUE(contains(explanation(figures(run), false)[1], "overflows: full local queues"));
  expect_parts(explanation(figures(run), true)[1],
               {"wakes: workers woken", "ovfl: full local queues",
                "per op: of one spawn (chained_spawn, spawn_many, spawn_local), one ping "
                "(ping_pong), one yield (yield_many)"});
}

TEST(Provenance, is_one_line_of_what_is_known) {
  EXPECT_EQ(provenance(samples::complete_run().environment),
            "Intel(R) Xeon(R) Processor @ 2.00GHz, 2 CPUs, virtual (kvm), Linux 6.1.0-18-amd64, "
            "g++ 12.2.0, Release");
  EXPECT_EQ(provenance({}), "");
}

}  // namespace
}  // namespace taskbench::reports::render
