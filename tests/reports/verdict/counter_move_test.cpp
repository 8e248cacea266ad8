#include "reports/verdict/counter_move.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reports/json/writer.hpp"
#include "reports/render/counters.hpp"
#include "reports/render/render.hpp"
#include "reports/verdict/files.hpp"
#include "tests/reports/printed.hpp"
#include "tests/reports/text.hpp"

namespace taskbench::reports::verdict {
namespace {

TEST(counter_move_test, largest_in_units_of_its_own_noise_comes_first) {
  const CounterValues base{{"quiet", {100, 101, 102}}, {"noisy", {100, 200, 300}}};
  const CounterValues head{{"quiet", {120, 121, 122}}, {"noisy", {200, 300, 400}}};
  const auto moves = most_moved(base, head, 3, 0);
  ASSERT_EQ(moves.size(), 1U);  // the noisy one moved by only one deviation
  EXPECT_EQ(moves[0].name, "quiet");
  EXPECT_DOUBLE_EQ(moves[0].score, 20);
}

TEST(counter_move_test, only_counters_of_both_sides_with_enough_values) {
  const CounterValues base{{"few", {1, 1}}, {"gone", {1, 1, 1}}, {"same", {5, 5, 5}}};
  const CounterValues head{{"few", {9, 9}}, {"new", {1, 1, 1}}, {"same", {5, 5, 5}}};
  EXPECT_TRUE(most_moved(base, head, 3, 0).empty());
  EXPECT_EQ(most_moved(base, head, 1, 0).size(), 1U);
}

std::vector<std::string> names_of(const std::vector<CounterMove>& moves) {
  std::vector<std::string> names;
  for (const CounterMove& move : moves) names.push_back(move.name);
  return names;
}

TEST(counter_move_test, at_most_three_and_no_spread_is_no_certainty) {
  const CounterValues base{{"a, by 4 %", {100, 100, 100}},    {"b, by 2 %", {100, 100, 100}},
                           {"c, by 1 %", {100, 100, 100}},    {"d, by a trillionth", {1, 1, 1}},
                           {"e, in its noise", {50, 60, 70}}, {"f, twice", {1000, 1001, 1002}},
                           {"g, by half", {10, 10, 10}}};
  const CounterValues head{
      {"a, by 4 %", {104, 104, 104}},    {"b, by 2 %", {102, 102, 102}},
      {"c, by 1 %", {101, 101, 101}},    {"d, by a trillionth", {1 + 1e-12, 1 + 1e-12, 1 + 1e-12}},
      {"e, in its noise", {60, 70, 80}}, {"f, twice", {2000, 2001, 2002}},
      {"g, by half", {15, 15, 15}}};
  const auto moves = most_moved(base, head, 3, 0);
  EXPECT_EQ(names_of(moves), (std::vector<std::string>{"f, twice", "g, by half", "a, by 4 %"}));
  EXPECT_NEAR(moves[0].score, 100, 0.1) << "1000 of 2001, and 0.5 % of that is the noise";
  // If fewer than three moved by more, those that barely moved are still not reported.
  EXPECT_TRUE(most_moved({{"c", {100, 100, 100}}}, {{"c", {101, 101, 101}}}, 3, 0).empty());
  EXPECT_EQ(most_moved({{"b", {100, 100, 100}}}, {{"b", {102, 102, 102}}}, 3, 0).size(), 1U);
}

TEST(counter_move_test, a_few_events_more_in_all_iterations_are_no_move) {
  // In ten iterations: one steal, and three; then one, and eleven.
  const CounterValues one{{"steals", {0.1, 0.1, 0.1}}};
  EXPECT_TRUE(most_moved(one, {{"steals", {0.3, 0.3, 0.3}}}, 3, resolution_of(10)).empty());
  EXPECT_EQ(most_moved(one, {{"steals", {1.1, 1.1, 1.1}}}, 3, resolution_of(10)).size(), 1U);
  EXPECT_EQ(most_moved({{"steals", {0, 0, 0}}}, {{"steals", {0.01, 0.01, 0.01}}}, 3, 0).size(), 1U)
      << "0 is known no better either, but all of it moved";
}

TEST(counter_move_test, what_moved_is_told_with_digits_that_show_it) {
  EXPECT_EQ(render::moved_text({{"steals", 0.001, 0.003, 9}, {"parks", 1.0, 1.02, 4}}),
            "steals 0.001 → 0.003, parks 1.00 → 1.02");
  EXPECT_EQ(render::moved_text({{"steals", 0, 0.003, 9}}), "steals 0 → <0.01");
}

model::Run file_with(double ns, double parks, double instructions) {
  model::Case benchmark;
  benchmark.name = "ping_pong";
  for (int i = 0; i < 5; ++i) {
    benchmark.repetitions.push_back(
        {i, 10, ns + i, ns, {{"parks", parks + 0.01 * i}, {"items_per_second", 1e9 / ns}}});
  }
  benchmark.events.push_back(
      {"instructions", "", {instructions, instructions + 1, instructions + 2}, 1, false, ""});
  benchmark.events.push_back({"cycles", "", {}, {}, false, "not supported by this machine"});
  model::Run file;
  file.cases.push_back(std::move(benchmark));
  return file;
}

TEST(counter_move_test, comparison_of_files_names_what_moved) {
  const auto report = compare_files({file_with(100, 1, 5000)}, {file_with(150, 2, 9000)}, {});
  ASSERT_EQ(report.rows.size(), 1U);
  EXPECT_EQ(names_of(report.rows[0].counters), (std::vector<std::string>{"parks", "instructions"}));
  EXPECT_TRUE(contains(render::table(report, {false, 200}),
                       "ping_pong: counters per iteration that moved most: parks 1.02 → 2.02, "
                       "instructions 5,001 → 9,001."));
  EXPECT_TRUE(contains(json::to_json(report), "\"counters_moved\""));
}

TEST(counter_move_test, comparison_of_our_own_files_knows_what_an_iteration_resolves) {
  const auto moved = [](double parks, const char* workload) {
    auto base = file_with(100, 0, 5000);
    auto head = file_with(150, parks, 5000);
    for (auto* file : {&base, &head}) file->cases[0].workload = workload;
    return names_of(compare_files({base}, {head}, {}).rows[0].counters);
  };
  EXPECT_TRUE(moved(0.2, "ping_pong").empty()) << "two parks more in ten iterations";
  EXPECT_EQ(moved(0.5, "ping_pong"), std::vector<std::string>{"parks"});
  EXPECT_EQ(moved(0.2, ""), std::vector<std::string>{"parks"}) << "which may be no count at all";
}

TEST(counter_move_test, exact_instructions_have_a_verdict_of_their_own_and_are_not_told_twice) {
  const auto with_exact = [](double count) {
    auto file = file_with(100, 1, 5000);
    file.cases[0].events.push_back(
        {model::kInstructionsExact, "", {count, count, count}, {}, false, ""});
    return file;
  };
  const auto report = compare_files({with_exact(1000)}, {with_exact(1500)}, {});
  EXPECT_EQ(report.rows[0].instructions->verdict, Verdict::fail);
  EXPECT_TRUE(report.rows[0].counters.empty());
}

}  // namespace
}  // namespace taskbench::reports::verdict
