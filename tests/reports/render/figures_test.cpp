#include "reports/render/figures.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "tests/reports/sample_runs.hpp"

namespace taskbench::reports::render {
namespace {

TEST(WithSeparators, whole_numbers) {
  EXPECT_EQ(with_separators(std::uint64_t{0}), "0");
  EXPECT_EQ(with_separators(std::uint64_t{999}), "999");
  EXPECT_EQ(with_separators(std::uint64_t{1000}), "1,000");
  EXPECT_EQ(with_separators(std::uint64_t{168'854}), "168,854");
  EXPECT_EQ(with_separators(std::uint64_t{14'638'563}), "14,638,563");
  EXPECT_EQ(with_separators(std::numeric_limits<std::uint64_t>::max()),
            "18,446,744,073,709,551,615");
}

TEST(WithSeparators, numbers_with_decimals) {
  EXPECT_EQ(with_separators(0.0, 2), "0.00");
  EXPECT_EQ(with_separators(999.994, 2), "999.99");
  EXPECT_EQ(with_separators(999.996, 2), "1,000.00");
  EXPECT_EQ(with_separators(1234567.891, 1), "1,234,567.9");
  EXPECT_EQ(with_separators(-1234.5, 1), "-1,234.5");
  EXPECT_EQ(with_separators(-123.4, 0), "-123");
}

TEST(Rate, has_three_significant_digits) {
  EXPECT_EQ(rate(0.12345), "0.12");
  EXPECT_EQ(rate(1.005e0 + 0.001), "1.01");
  EXPECT_EQ(rate(12.345), "12.3");
  EXPECT_EQ(rate(123.45), "123");
  EXPECT_EQ(rate(12345.6), "12,346");
}

TEST(ThreeDigits, are_enough) {
  EXPECT_EQ(three_digits(0), "0");
  EXPECT_EQ(three_digits(0.00031), "0.00031");
  EXPECT_EQ(three_digits(12345.6), "12,346");
}

TEST(Rate, keeps_three_digits_where_rounding_adds_one) {
  EXPECT_EQ(rate(9.994), "9.99");
  EXPECT_EQ(rate(9.996), "10.0");
  EXPECT_EQ(rate(99.94), "99.9");
  EXPECT_EQ(rate(99.96), "100");
}

TEST(Rate, tells_none_from_hardly_any) {
  EXPECT_EQ(rate(0), "0");
  EXPECT_EQ(rate(0.001), "<0.01");
  EXPECT_EQ(rate(0.005), "0.01");
}

TEST(TimeUnit, is_the_largest_in_which_the_shortest_time_is_at_least_one) {
  EXPECT_EQ(time_unit(0.5).name, "ns");
  EXPECT_EQ(time_unit(999).name, "ns");
  EXPECT_EQ(time_unit(1'000).name, "µs");
  EXPECT_EQ(time_unit(999'999).name, "µs");
  EXPECT_EQ(time_unit(1e6).name, "ms");
  EXPECT_EQ(time_unit(2.5e9).name, "s");
  EXPECT_EQ(time_unit(1e15).name, "s");
}

TEST(TimeUnit, gives_the_shortest_time_four_digits) {
  EXPECT_EQ(time_unit(1'234).decimals, 3);
  EXPECT_EQ(time_unit(12'345).decimals, 2);
  EXPECT_EQ(time_unit(123'456).decimals, 1);
  EXPECT_EQ(time_unit(5e12).decimals, 0);
}

TEST(TimeUnit, without_any_time_is_nanoseconds) {
  EXPECT_EQ(time_unit(std::numeric_limits<double>::infinity()).name, "ns");
}

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
  const model::Run complete = samples::complete_run();
  EXPECT_TRUE(explanation(figures(complete), false)[0].starts_with(
      "Each figure is the median of 9 repetitions;"));
  const model::Run partial = samples::partial_run();
  EXPECT_TRUE(explanation(figures(partial), false)[0].starts_with(
      "Each figure is the median of 2 to 3 repetitions;"));
  const model::Run single = samples::single_repetition_run();
  EXPECT_TRUE(explanation(figures(single), false)[0].starts_with(
      "Each figure rests on a single repetition"));
}

TEST(Explanation, uses_the_titles_that_the_reader_sees) {
  const model::Run run = samples::complete_run();
  const std::string long_titles = explanation(figures(run), false)[1];
  const std::string short_titles = explanation(figures(run), true)[1];
  EXPECT_NE(long_titles.find("wakes: workers woken"), std::string::npos) << long_titles;
  EXPECT_NE(short_titles.find("wakes: workers woken"), std::string::npos) << short_titles;
  EXPECT_NE(short_titles.find("per op: of one spawn (chained_spawn, spawn_many, spawn_local), "
                              "one ping (ping_pong), one yield (yield_many)"),
            std::string::npos)
      << short_titles;
}

TEST(Provenance, is_one_line_of_what_is_known) {
  EXPECT_EQ(provenance(samples::complete_run().environment),
            "Intel(R) Xeon(R) Processor @ 2.00GHz, 2 CPUs, virtual (kvm), Linux 6.1.0-18-amd64, "
            "g++ 12.2.0, Release");
  EXPECT_EQ(provenance({}), "");
}

TEST(Numbers, with_a_prefix_have_three_digits) {
  EXPECT_EQ(with_prefix(0), "0");
  EXPECT_EQ(with_prefix(0.00031), "0.00031");
  EXPECT_EQ(with_prefix(999), "999");
  EXPECT_EQ(with_prefix(999.7), "1 k");
  EXPECT_EQ(with_prefix(12'500), "12.5 k");
  EXPECT_EQ(with_prefix(5e9), "5 G");
  EXPECT_EQ(with_prefix(-2e6), "-2 M");
  EXPECT_EQ(with_prefix(1e30), "1e+06 Y");
}

TEST(Numbers, of_hundreds_of_digits_are_not_written_out) {
  EXPECT_EQ(with_separators(123'456'789'012'345.0, 0), "123,456,789,012,345");
  EXPECT_EQ(with_separators(1e308, 3), "1e+308");
  EXPECT_EQ(with_separators(-1e308, 3), "-1e+308");
}

}  // namespace
}  // namespace taskbench::reports::render
