#include "reports/verdict/counter_move.hpp"

#include <gtest/gtest.h>

#include "reports/render/counters.hpp"
#include "reports/render/files.hpp"
#include "reports/verdict/files.hpp"

namespace taskbench::reports::verdict {
namespace {

TEST(counter_move_test, largest_in_units_of_its_own_noise_comes_first) {
  const CounterValues base{{"quiet", {100, 101, 102}}, {"noisy", {100, 200, 300}}};
  const CounterValues head{{"quiet", {120, 121, 122}}, {"noisy", {200, 300, 400}}};
  const auto moves = most_moved(base, head, 3);
  ASSERT_EQ(moves.size(), 1U);  // the noisy one moved by one deviation only
  EXPECT_EQ(moves[0].name, "quiet");
  EXPECT_DOUBLE_EQ(moves[0].score, 20);
}

TEST(counter_move_test, only_counters_of_both_sides_with_enough_values) {
  const CounterValues base{{"few", {1, 1}}, {"gone", {1, 1, 1}}, {"same", {5, 5, 5}}};
  const CounterValues head{{"few", {9, 9}}, {"new", {1, 1, 1}}, {"same", {5, 5, 5}}};
  EXPECT_TRUE(most_moved(base, head, 3).empty());
  EXPECT_EQ(most_moved(base, head, 1).size(), 1U);
}

TEST(counter_move_test, at_most_three) {
  CounterValues base;
  CounterValues head;
  for (const char* name : {"a", "b", "c", "d"}) {
    base[name] = {1, 1, 1};
    head[name] = {2, 2, 2};
  }
  EXPECT_EQ(most_moved(base, head, 3).size(), 3U);
}

model::ResultFile file_with(double ns, double parks, double instructions) {
  model::Benchmark benchmark;
  benchmark.run_name = "ping_pong";
  for (int i = 0; i < 5; ++i) {
    benchmark.repetitions.push_back(
        {10, ns + i, ns, {{"parks", parks + 0.01 * i}, {"items_per_second", 1e9 / ns}}});
  }
  benchmark.events.push_back(
      {"instructions", "", {instructions, instructions + 1, instructions + 2}, 1, false, ""});
  benchmark.events.push_back({"cycles", "", {}, {}, false, "not supported by this machine"});
  model::ResultFile file;
  file.benchmarks.push_back(std::move(benchmark));
  return file;
}

TEST(counter_move_test, comparison_of_files_names_what_moved) {
  const auto report = compare_files({file_with(100, 1, 5000)}, {file_with(150, 2, 9000)}, {});
  ASSERT_EQ(report.rows.size(), 1U);
  ASSERT_EQ(report.rows[0].counters.size(), 2U);
  EXPECT_EQ(report.rows[0].counters[0].name, "instructions");
  EXPECT_EQ(report.rows[0].counters[1].name, "parks");
  EXPECT_NE(render::table(report, {false, 200})
                .find("ping_pong: counters per iteration that moved most: instructions 5,001 → "
                      "9,001, parks 1.02 → 2.02."),
            std::string::npos);
  EXPECT_NE(render::json(report).find("\"counters_moved\""), std::string::npos);
}

}  // namespace
}  // namespace taskbench::reports::verdict
