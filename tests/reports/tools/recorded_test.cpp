#include "reports/tools/recorded.hpp"

#include <gtest/gtest.h>

#include "reports/json/parse.hpp"
#include "tests/reports/text.hpp"

namespace taskbench::reports::tools {
namespace {

TEST(PytestBenchmark, has_a_repetition_a_round_and_cpu_times_where_they_were_added) {
  const model::Run run = parse_pytest_benchmark("f", R"({"machine_info": {}, "benchmarks": [
    {"name": "test_a", "fullname": "t.py::test_a[a b-1]",
     "stats": {"iterations": 100, "data": [1e-6, 2e-6], "cpu_data": [5e-7, 6e-7]}},
    {"name": "test_b", "fullname": "t.py::test_b", "stats": {"iterations": 1, "data": [0.5]}},
    {"name": "test_c", "fullname": "t.py::test_c", "stats": {"iterations": 1, "data": [0.0]}}]})");
  ASSERT_EQ(run.cases.size(), 3U);
  EXPECT_EQ(run.cases[0].name, "t.py::test_a[a b-1]");
  const auto& rounds = run.cases[0].repetitions;
  ASSERT_EQ(rounds.size(), 2U);
  EXPECT_DOUBLE_EQ(rounds[1].real_ns, 2000);
  EXPECT_DOUBLE_EQ(rounds[1].cpu_ns, 600);
  EXPECT_EQ(rounds[1].iterations, 100);
  EXPECT_EQ(rounds[1].index, 1);
  EXPECT_EQ(run.cases[1].repetitions[0].cpu_ns, 0);
  EXPECT_EQ(run.cases[2].unusable, "takes 0 ns, which no measurement gives");
}

TEST(PytestBenchmark, refuses_a_file_that_keeps_no_rounds_and_says_what_would_do) {
  const auto text = R"({"benchmarks": [{"fullname": "t", "stats": {"iterations": 1}}]})";
  EXPECT_TRUE(contains(
      what_of<json::ReadError>([&] { static_cast<void>(parse_pytest_benchmark("f.json", text)); }),
      "f.json: is no result of pytest-benchmark: field "
      "'benchmarks[0].stats.data' is missing; pytest --benchmark-json=FILE writes "
      "one"));
}

TEST(Pyperf, has_a_repetition_a_value_and_leaves_out_calibration) {
  const model::Run run = parse_pyperf("f", R"({"version": "1.0",
    "metadata": {"unit": "second", "loops": 8}, "benchmarks": [
    {"metadata": {"name": "a"}, "runs": [{"warmups": [[1, 0.1]]},
      {"metadata": {"loops": 16}, "values": [0.25, 0.5]}, {"values": [0.125]}]},
    {"metadata": {"name": "size", "unit": "byte"}, "runs": [{"values": [12]}]}]})");
  ASSERT_EQ(run.cases.size(), 2U);
  const auto& values = run.cases[0].repetitions;
  ASSERT_EQ(values.size(), 3U);
  EXPECT_DOUBLE_EQ(values[1].real_ns, 0.5e9);
  EXPECT_EQ(values[1].iterations, 16);
  EXPECT_EQ(values[2].iterations, 8);
  EXPECT_EQ(run.cases[1].unusable, "is in the unit 'byte', and no time");
}

TEST(Pyperf, counts_the_statements_in_a_loop) {
  const model::Run run = parse_pyperf("f", R"({"metadata": {"inner_loops": 20}, "benchmarks": [
    {"metadata": {"name": "a"}, "runs": [{"metadata": {"loops": 16}, "values": [0.25]}]},
    {"metadata": {"name": "b", "inner_loops": 1000000000000000, "loops": 1000000000000},
     "runs": [{"values": [0.25]}]}]})");
  EXPECT_EQ(run.cases.at(0).repetitions.at(0).iterations, 16 * 20);
  EXPECT_GT(run.cases.at(1).repetitions.at(0).iterations, 0) << "the product has no 64 bits";
}

TEST(Pyperf, takes_the_name_of_a_single_benchmark_from_what_the_file_shares) {
  const model::Run run =
      parse_pyperf("f", R"({"metadata": {"name": "a"}, "benchmarks": [{"runs": []}]})");
  EXPECT_EQ(run.cases.at(0).name, "a");
  EXPECT_THROW(static_cast<void>(parse_pyperf("f", R"({"benchmarks": [{"runs": []}]})")),
               json::ReadError);
}

TEST(Criterion, has_a_repetition_a_sample) {
  const model::Case sort = parse_criterion(
      "new", R"({"group_id": "sort", "full_id": "sort/10"})",
      R"({"sampling_mode": "Linear", "iters": [10.0, 20.0], "times": [50.0, 80.0]})");
  EXPECT_EQ(sort.name, "sort/10");
  ASSERT_EQ(sort.repetitions.size(), 2U);
  EXPECT_EQ(sort.repetitions[0].real_ns, 5);
  EXPECT_EQ(sort.repetitions[1].real_ns, 4);
  EXPECT_EQ(sort.repetitions[1].iterations, 20);
}

TEST(Criterion, refuses_samples_that_cannot_be_and_names_their_file) {
  const auto parse = [](const char* sample) {
    return parse_criterion("new", R"({"full_id": "a"})", sample);
  };
  EXPECT_TRUE(contains(
      what_of<json::ReadError>([&] { static_cast<void>(parse(R"({"iters": [1], "times": []})")); }),
      "new/sample.json: is no result of Criterion: "));
  EXPECT_THROW(static_cast<void>(parse(R"({"iters": [0], "times": [1]})")), json::ReadError);
  EXPECT_THROW(static_cast<void>(parse("[]")), json::ReadError);
}

TEST(Jmh, has_a_repetition_an_iteration_and_parameters_in_names) {
  const model::Run run = parse_jmh("f", R"([
    {"benchmark": "org.Sort.quick", "mode": "avgt", "params": {"size": "10", "order": "up"},
     "primaryMetric": {"score": 2.0, "scoreUnit": "us/op", "rawData": [[1.5, 2.5], [2.0]]}},
    {"benchmark": "org.Sort.rate", "mode": "thrpt",
     "primaryMetric": {"score": 2.0, "scoreUnit": "ops/ms", "rawData": [[4.0]]}},
    {"benchmark": "org.Sort.odd",
     "primaryMetric": {"score": 2.0, "scoreUnit": "B/op", "rawData": [[4.0]]}}])");
  ASSERT_EQ(run.cases.size(), 3U);
  EXPECT_EQ(run.cases[0].name, "org.Sort.quick/order=up/size=10");
  ASSERT_EQ(run.cases[0].repetitions.size(), 3U);
  EXPECT_DOUBLE_EQ(run.cases[0].repetitions[1].real_ns, 2500);
  EXPECT_DOUBLE_EQ(run.cases[1].repetitions[0].real_ns, 250'000);
  EXPECT_EQ(run.cases[2].unusable, "is in the unit 'B/op', which is no time of an operation");
}

TEST(Jmh, has_the_mean_of_each_iteration_of_sampled_times) {
  const model::Run run = parse_jmh("f", R"([{"benchmark": "org.Sort.quick", "mode": "sample",
    "primaryMetric": {"scoreUnit": "us/op",
                      "rawDataHistogram": [[[[1.0, 3], [5.0, 1]], [[4.0, 2]]], [[[7.0, 1]]]]}}])");
  ASSERT_EQ(run.cases.size(), 1U);
  EXPECT_EQ(run.cases[0].name, "org.Sort.quick");
  ASSERT_EQ(run.cases[0].repetitions.size(), 3U);
  EXPECT_DOUBLE_EQ(run.cases[0].repetitions[0].real_ns, 2000);
  EXPECT_DOUBLE_EQ(run.cases[0].repetitions[1].real_ns, 4000);
  EXPECT_DOUBLE_EQ(run.cases[0].repetitions[2].real_ns, 7000);
  const auto text = R"([{"benchmark": "a",
    "primaryMetric": {"scoreUnit": "us/op", "rawDataHistogram": [[[[1.0]]]]}}])";
  EXPECT_TRUE(contains(what_of<json::ReadError>([&] { static_cast<void>(parse_jmh("f", text)); }),
                       "rawDataHistogram[0][0][0]' is not a score and how often it occurred"));
}

TEST(Jmh, tells_the_modes_of_a_benchmark_apart) {
  const model::Run run = parse_jmh("f", R"([
    {"benchmark": "a", "mode": "thrpt", "params": {"n": "1"},
     "primaryMetric": {"scoreUnit": "ops/min", "rawData": [[60.0]]}},
    {"benchmark": "a", "mode": "avgt", "params": {"n": "1"},
     "primaryMetric": {"scoreUnit": "s/op", "rawData": [[2.0]]}},
    {"benchmark": "b", "mode": "avgt",
     "primaryMetric": {"scoreUnit": "s/op", "rawData": [[3.0]]}}])");
  ASSERT_EQ(run.cases.size(), 3U);
  EXPECT_EQ(run.cases[0].name, "a/n=1/thrpt");
  EXPECT_DOUBLE_EQ(run.cases[0].repetitions.at(0).real_ns, 1e9);
  EXPECT_EQ(run.cases[1].name, "a/n=1/avgt");
  EXPECT_EQ(run.cases[1].repetitions.size(), 1U);
  EXPECT_EQ(run.cases[2].name, "b");
}

TEST(Recorded, refuses_what_is_no_result) {
  for (const char* text : {"", "{", "null", "7", "{}", R"({"benchmarks": 3})", R"([{}])"}) {
    EXPECT_THROW(static_cast<void>(parse_pytest_benchmark("f", text)), json::ReadError) << text;
    EXPECT_THROW(static_cast<void>(parse_pyperf("f", text)), json::ReadError) << text;
    EXPECT_THROW(static_cast<void>(parse_criterion("f", text, text)), json::ReadError) << text;
    EXPECT_THROW(static_cast<void>(parse_jmh("f", text)), json::ReadError) << text;
  }
}

}  // namespace
}  // namespace taskbench::reports::tools
