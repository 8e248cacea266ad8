#include "reports/render/measures.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/reports/text.hpp"

namespace taskbench::reports::render {
namespace {

void add_value(Measures& all, std::string_view name, std::string_view unit, double value) {
  all.add(name, unit, "Help.", {"sort", {}, value});
}

TEST(Measures, of_counters_called_like_a_time_are_not_taken_for_it) {
  Measures all;
  add_value(all, "wall_time", "seconds", 3e-9);
  add_value(all, "latency", "", 5);
  add_value(all, "wall_time", "", 7);
  const auto sort = nlohmann::json::parse(bencher_metrics(all)).at("sort");
  EXPECT_DOUBLE_EQ(sort.at("latency").at("value").get<double>(), 3);
  EXPECT_EQ(sort.at("latency-2").at("value").get<double>(), 5);
  EXPECT_EQ(sort.at("wall-time").at("value").get<double>(), 7);
  const std::string text = open_metrics(all);
  EXPECT_TRUE(contains(text, "taskbench_wall_time_seconds{benchmark=\"sort\"} 3e-09\n"));
  EXPECT_TRUE(contains(text, "taskbench_wall_time{benchmark=\"sort\"} 7\n"));
}

TEST(Measures, of_names_that_become_equal_keep_apart) {
  Measures all;
  add_value(all, "wall_time", "seconds", 3e-9);
  add_value(all, "p99-us", "", 5);
  add_value(all, "p99_us", "", 7);
  add_value(all, "wall_time_seconds", "", 9);
  expect_parts(open_metrics(all), {"\ntaskbench_p99_us{benchmark=\"sort\"} 5\n",
                                   "\ntaskbench_p99_us_2{benchmark=\"sort\"} 7\n",
                                   "\ntaskbench_wall_time_seconds_2{benchmark=\"sort\"} 9\n"});
  const auto sort = nlohmann::json::parse(bencher_metrics(all)).at("sort");
  EXPECT_EQ(sort.at("p99-us").at("value").get<double>(), 5);
  EXPECT_EQ(sort.at("p99-us-2").at("value").get<double>(), 7);
}

TEST(Measures, of_a_benchmark_have_the_same_names_whatever_others_have) {
  Measures all;
  all.add("p99-us", "", "Help.", {"another", {}, 5});
  add_value(all, "p99_us", "", 7);
  expect_parts(open_metrics(all), {"\ntaskbench_p99_us{benchmark=\"another\"} 5\n",
                                   "\ntaskbench_p99_us{benchmark=\"sort\"} 7\n"});
  const auto sort = nlohmann::json::parse(bencher_metrics(all)).at("sort");
  EXPECT_EQ(sort.at("p99-us").at("value").get<double>(), 7);
}

TEST(Measures, of_one_name_and_one_benchmark_keep_apart) {
  Measures all;
  add_value(all, "instructions", "", 5);  // the program's own counter
  add_value(all, "instructions", "", 7);  // counted from outside
  expect_parts(open_metrics(all), {"\ntaskbench_instructions{benchmark=\"sort\"} 5\n",
                                   "\ntaskbench_instructions_2{benchmark=\"sort\"} 7\n"});
}

TEST(Measures, of_long_names_keep_apart_in_bencher) {
  Measures all;
  const std::string beginning(70, 'x');
  for (const int i : {1, 2}) add_value(all, beginning + std::to_string(i), "", i);
  const auto sort = nlohmann::json::parse(bencher_metrics(all)).at("sort");
  EXPECT_EQ(sort.at(std::string(64, 'x')).at("value").get<double>(), 1);
  EXPECT_EQ(sort.at(std::string(62, 'x') + "-2").at("value").get<double>(), 2);
}

}  // namespace
}  // namespace taskbench::reports::render
