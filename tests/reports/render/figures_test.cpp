#include "reports/render/figures.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/reports/sample_runs.hpp"
#include "tests/reports/text.hpp"

namespace taskbench::reports::render {
namespace {

std::vector<std::string> titles_of(const Table& table) {
  std::vector<std::string> titles;
  for (const Column& column : table.columns) titles.push_back(column.title);
  return titles;
}

std::vector<std::string> texts_of(const Row& row) {
  std::vector<std::string> texts;
  for (const Cell& cell : row.cells) texts.push_back(cell.text);
  return texts;
}

TEST(Figures, group_by_workload_in_order_of_appearance_however_cases_are_interleaved) {
  model::Run run = samples::several_schedulers_run();
  std::swap(run.cases[1], run.cases[5]);
  const Table shown = figures(run);
  std::vector<std::string> groups;
  for (const Row& row : shown.rows) groups.push_back(row.group);
  EXPECT_EQ(groups, (std::vector<std::string>{"chained_spawn", "chained_spawn", "chained_spawn",
                                              "ping_pong", "ping_pong", "ping_pong", "spawn_many",
                                              "spawn_many", "spawn_many", "spawn_local",
                                              "spawn_local", "spawn_local"}));
}

TEST(Figures, of_one_scheduler_are_named_by_their_workloads) {
  const Table shown = figures(samples::complete_run());
  EXPECT_EQ(shown.group_title, "");
  EXPECT_EQ(shown.rows[0].cells[0].text, "chained_spawn");
  EXPECT_EQ(common_engine(samples::complete_run()), "work_stealing, 2 workers");
  EXPECT_EQ(common_engine(samples::several_schedulers_run()), "");
}

TEST(Figures, every_row_has_a_cell_a_column) {
  for (const samples::NamedRun& sample : samples::all()) {
    const Table shown = figures(sample.make());
    for (const Row& row : shown.rows) {
      EXPECT_EQ(row.cells.size(), shown.columns.size()) << sample.name;
    }
  }
}

TEST(Figures, counters_that_nobody_counted_have_no_column) {
  const Table shown = flat(figures(samples::single_repetition_run()));
  EXPECT_EQ(shown.columns.size(), 7U);
  EXPECT_EQ(shown.columns.back().title, "switches");
  EXPECT_EQ(shown.rows[0].cells.back().text, "–");
}

TEST(Figures, failed_and_unmeasured_cases_have_no_row) {
  EXPECT_EQ(figures(samples::failed_run()).rows.size(), 1U);
  EXPECT_EQ(notices(samples::failed_run()).at(0).label, "Failed");
  EXPECT_TRUE(contains(notices(samples::failed_run()).at(0).text, " ping_pong/"));
  EXPECT_EQ(notices(samples::partial_run()).at(0).label, "Not measured");
  EXPECT_TRUE(contains(notices(samples::partial_run()).at(0).text, " yield_many/"));
}

TEST(Observations, of_each_workload_that_has_some_are_a_table_of_their_own) {
  const std::vector<Table> tables = observations(samples::observed_run());
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_EQ(titles_of(tables[0]),
            (std::vector<std::string>{"scheduler", "lead_yields", "wait_p99", "wait_p99_9"}));
  EXPECT_EQ(texts_of(tables[0].rows.at(0)),
            (std::vector<std::string>{"work_stealing ×1", "56.8", "12.35 µs", "–"}));
  EXPECT_EQ(texts_of(tables[0].rows.at(1)),
            (std::vector<std::string>{"work_stealing ×2", "56.8", "12.35 µs", "4.321 ms"}));
}

TEST(Figures, rare_counters_have_a_column_only_where_they_counted) {
  const auto columns = [](double hand_offs) {
    model::Run run = samples::complete_run();
    for (model::Case& each : run.cases) {
      for (auto& repetition : each.repetitions) repetition.counters["hand_offs"] = hand_offs;
    }
    return figures(run).columns.back().title;
  };
  EXPECT_EQ(columns(0), "overflows");
  EXPECT_EQ(columns(0.5), "hand-offs");
}

TEST(Figures, of_a_program_rest_on_processes_and_have_no_column_that_would_be_empty) {
  model::Run run = samples::complete_run();
  run.settings.processes = 9;
  run.settings.kind = "lines";
  run.cases.resize(1);
  model::Case& benchmark = run.cases[0];
  benchmark.name = "sort";
  benchmark.workload = benchmark.scheduler = benchmark.operation = "";
  benchmark.operations = 0;
  EXPECT_EQ(titles_of(figures(run)).at(5), "distribution");
  EXPECT_EQ(titles_of(figures(run)).at(6), "switches") << "which these processes report";
  for (auto& repetition : benchmark.repetitions) repetition.counters.clear();
  EXPECT_EQ(titles_of(figures(run)), (std::vector<std::string>{"benchmark", "median", "± MAD",
                                                               "± MAD", "CPU", "distribution"}));
  EXPECT_TRUE(basis(run).starts_with(
      "Each figure is the median of 9 fresh processes of the kind lines; half"));
  benchmark.repetitions.resize(1);
  EXPECT_TRUE(basis(run).starts_with("Each figure rests on a single process:"));
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

TEST(Basis, says_how_many_repetitions_each_figure_rests_on) {
  for (const auto& [run, begin] :
       {std::pair{samples::complete_run(), "Each figure is the median of 9 repetitions;"},
        {samples::partial_run(), "Each figure is the median of 2 to 3 repetitions;"},
        {samples::single_repetition_run(), "Each figure rests on a single repetition"}}) {
    EXPECT_TRUE(basis(run).starts_with(begin)) << begin;
  }
  EXPECT_EQ(basis(samples::empty_run()), "");
}

TEST(Legend, uses_the_titles_that_the_reader_sees) {
  const Table shown = figures(samples::complete_run());
  EXPECT_TRUE(contains(legend(shown), "overflows: full local queues"));
  expect_parts(legend(shown, true),
               {"wakes: workers woken", "ovfl: full local queues",
                "per op: of one spawn (chained_spawn, spawn_many, spawn_local), one ping "
                "(ping_pong), one yield (yield_many)"});
  EXPECT_FALSE(contains(legend(shown), "distribution"));
  EXPECT_TRUE(contains(legend(shown, false, true), "distribution: how many"));
}

TEST(Provenance, is_one_line_of_what_is_known) {
  EXPECT_EQ(provenance(samples::complete_run().environment),
            "Intel(R) Xeon(R) Processor @ 2.00GHz, 2 CPUs, virtual (kvm), Linux 6.1.0-18-amd64, "
            "g++ 12.2.0, Release");
  EXPECT_EQ(provenance({}), "");
}

}  // namespace
}  // namespace taskbench::reports::render
