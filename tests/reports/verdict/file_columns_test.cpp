// Result files side by side: what is judged, what is not, and by which names benchmarks are paired.
#include "reports/verdict/file_columns.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <stdexcept>

#include "reports/render/columns.hpp"
#include "reports/render/render.hpp"
#include "tests/reports/printed.hpp"
#include "tests/reports/text.hpp"

namespace taskbench::reports::verdict {
namespace {

using Result = model::Run;

/// One process with two repetitions; `level` distinguishes it from others.
Result one_process(const std::map<std::string, double>& times, double level = 0) {
  Result file;
  file.environment.host_name = "host";
  for (const auto& [name, ns] : times) {
    model::Case benchmark;
    benchmark.name = name;
    for (const double step : {0.0, 0.02}) {
      benchmark.repetitions.push_back({0, 10, ns * (1 + level) * (1 + step), ns, {}});
    }
    file.cases.push_back(std::move(benchmark));
  }
  return file;
}

Column column_of(const std::string& name, std::size_t files, std::map<std::string, double> times) {
  Column column{name, {}};
  for (std::size_t i = 0; i < files; ++i) {
    column.files.push_back(one_process(times, 0.001 * static_cast<double>(i)));
  }
  return column;
}

TEST(file_columns_test, single_files_give_changes_and_nothing_is_judged) {
  const ColumnsReport report = compare_columns({column_of("a", 1, {{"sort", 100}, {"hash", 10}}),
                                                column_of("b", 1, {{"sort", 150}, {"hash", 10}}),
                                                column_of("c", 1, {{"sort", 50}, {"hash", 40}})},
                                               0.01);
  ASSERT_EQ(report.rows.size(), 2U);
  const auto& sort = report.rows[1];
  EXPECT_EQ(sort.name, "sort");
  EXPECT_NEAR(*sort.cells[1].change, 0.5, 1e-12);
  EXPECT_NEAR(*sort.cells[2].change, -0.5, 1e-12);
  EXPECT_NEAR(*sort.cells[0].spread, 1.0 / 101, 1e-12) << "of the repetitions 100 and 102";
  for (const auto& row : report.rows) {
    for (const auto& cell : row.cells) EXPECT_FALSE(cell.p_adjusted.has_value());
  }
  EXPECT_NEAR(report.mean_ns[1] / report.mean_ns[0], std::sqrt(1.5), 1e-12);
  EXPECT_NEAR(report.mean_ns[2] / report.mean_ns[0], std::sqrt(0.5 * 4), 1e-12);
}

TEST(file_columns_test, several_files_tell_a_change_from_none) {
  const ColumnsReport report = compare_columns({column_of("a", 7, {{"sort", 100}, {"hash", 10}}),
                                                column_of("b", 7, {{"sort", 130}, {"hash", 10}})},
                                               0.01);
  EXPECT_TRUE(report.rows[1].cells[1].is_changed);
  EXPECT_FALSE(report.rows[0].cells[1].is_changed);
  EXPECT_GT(*report.rows[0].cells[1].p_adjusted, 0.5);
  // 2 / C(14, 7), the least possible with seven and seven, times two changes.
  EXPECT_NEAR(*report.rows[1].cells[1].p_adjusted, 2 * 2 / 3432.0, 1e-9);
}

TEST(file_columns_test, what_too_few_files_have_takes_nothing_from_the_others) {
  std::vector<Column> columns{column_of("a", 5, {{"sort", 100}}),
                              column_of("b", 5, {{"sort", 130}})};
  for (int i = 0; i < 20; ++i) columns.push_back(column_of("single", 1, {{"sort", 100}}));
  const ColumnsReport report = compare_columns(columns, 0.01);
  EXPECT_TRUE(report.rows[0].cells[1].is_changed);
  EXPECT_NEAR(*report.rows[0].cells[1].p_adjusted, 2 / 252.0, 1e-9);
  EXPECT_FALSE(report.rows[0].cells[2].p_adjusted.has_value());
}

TEST(file_columns_test, benchmarks_that_a_column_lacks_are_empty_and_in_no_mean) {
  const ColumnsReport report = compare_columns(
      {column_of("a", 1, {{"sort", 100}}), column_of("b", 1, {{"sort", 100}, {"new", 5}})}, 0.01);
  ASSERT_EQ(report.rows.size(), 2U);
  EXPECT_EQ(report.rows[1].cells[0].files, 0U);
  EXPECT_FALSE(report.rows[1].cells[1].change.has_value());
  EXPECT_EQ(report.in_all_columns, 1U);
}

TEST(file_columns_test, nothing_is_judged_between_machines) {
  auto other = column_of("b", 7, {{"sort", 130}});
  for (auto& file : other.files) file.environment.host_name = "elsewhere";
  const ColumnsReport report = compare_columns({column_of("a", 7, {{"sort", 100}}), other}, 0.01);
  EXPECT_FALSE(report.rows[0].cells[1].p_adjusted.has_value());
  EXPECT_EQ(report.machine_differs.size(), 1U);
}

TEST(file_columns_test, names_are_mapped_by_whole_parts) {
  const auto mapped = [](const std::string& name, const char* from, const char* to) {
    Result file = one_process({{name, 1}});
    rename_all(file, {{from, to}});
    return file.cases[0].name;
  };
  EXPECT_EQ(mapped("spawn/workers:1/n:10", "workers:1", "workers:2"), "spawn/workers:2/n:10");
  EXPECT_EQ(mapped("spawn/workers:16", "workers:1", "workers:2"), "spawn/workers:16");
  EXPECT_EQ(mapped("a/b/c", "a/b", "x"), "x/c");
  EXPECT_EQ(mapped("a/b/c", "b", ""), "a/c");
  EXPECT_EQ(mapped("a/b/c", "c", ""), "a/b");
  EXPECT_EQ(mapped("a/b/c", "a", ""), "b/c");
  Result file = one_process({{"a/1", 1}, {"a/2", 1}});
  EXPECT_TRUE(contains(what_of<std::invalid_argument>([&] {
                         rename_all(file, {{"1", "2"}});
                       }),
                       "would both be called 'a/2'"));
}

TEST(file_columns_test, a_file_is_split_by_what_names_tell_of_a_key) {
  Result file = one_process(
      {{"spawn/pool/workers:1/n:10", 10}, {"spawn/pool/workers:2/n:10", 20}, {"plain", 1}});
  const Split split = split_by({file, file}, "workers");
  ASSERT_EQ(split.columns.size(), 2U);
  EXPECT_EQ(split.columns[0].name, "workers:1");
  EXPECT_EQ(split.columns[1].files.size(), 2U);
  EXPECT_EQ(split.columns[1].files[0].cases[0].name, "spawn/pool/n:10");
  EXPECT_EQ(split.without, (std::vector<std::string>{"plain"}));

  file = one_process({{"spawn/pool/n:10", 10}, {"spawn/single/n:10", 20}});
  for (std::size_t i = 0; i < 2; ++i) file.cases[i].scheduler = i == 0 ? "pool" : "single";
  const Split by_scheduler = split_by({file}, "scheduler");
  ASSERT_EQ(by_scheduler.columns.size(), 2U);
  EXPECT_EQ(by_scheduler.columns[1].name, "single");
  EXPECT_EQ(by_scheduler.columns[0].files[0].cases[0].name, "spawn/n:10");
}

TEST(file_columns_test, the_table_keeps_to_its_width) {
  std::vector<Column> columns;
  for (int i = 0; i < 6; ++i) {
    columns.push_back(column_of("column" + std::to_string(i), 1, {{"sort", 100.0 + i}}));
  }
  const std::string text = render::table(compare_columns(columns, 0.01), {false, 80});
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = text.find('\n', begin);
    EXPECT_LE(render::display_width(text.substr(begin, end - begin)), 80U) << text;
    begin = end + 1;
  }
  EXPECT_TRUE(contains(text, "column5"));
  EXPECT_TRUE(contains(text, "geometric mean"));
  EXPECT_TRUE(contains(text, "?: not judged. A file counts once"));
}

}  // namespace
}  // namespace taskbench::reports::verdict
