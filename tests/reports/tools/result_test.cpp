#include "reports/tools/result.hpp"

#include <gtest/gtest.h>

#include "reports/json/parse.hpp"
#include "tests/reports/text.hpp"

namespace taskbench::reports::tools {
namespace {

struct Recognised {
  const char* text;
  const char* name;
  double ns;
};

TEST(ResultOfAnyTool, is_recognised_by_its_text) {
  for (const auto& [text, name, ns] : {
           Recognised{R"({"context": {}, "benchmarks": [{"name": "a", "iterations": 1,
                          "real_time": 2, "cpu_time": 1, "time_unit": "us"}]})",
                      "a", 2000},
           Recognised{"<?xml version='1.0'?>\n<Catch2TestRun><TestCase name='t'><BenchmarkResults "
                      "name='a'><mean value='3'/></BenchmarkResults></TestCase></Catch2TestRun>",
                      "t/a", 3},
           Recognised{R"([{"benchmark": "a", "primaryMetric": {"scoreUnit": "ns/op",
                           "rawData": [[4]]}}])",
                      "a", 4},
           Recognised{R"({"results": [{"command": "sleep 1", "user": 0.1, "system": 0.2,
                          "times": [1.5]}]})",
                      "sleep 1", 1.5e9},
           Recognised{R"({"machine_info": {}, "benchmarks": [{"fullname": "a",
                          "stats": {"iterations": 1, "data": [2e-9]}}]})",
                      "a", 2},
           Recognised{R"({"benchmarks": [{"runs": [{"values": [1e-6]}]}],
                          "metadata": {"name": "a"}, "version": "1.0"})",
                      "a", 1000},
           Recognised{"goos: linux\nBenchmarkA-2 10 5 ns/op\n", "BenchmarkA", 5},
           Recognised{"running 1 test\ntest a ... bench: 1,000 ns/iter (+/- 6)\n", "a", 1000},
       }) {
    const model::Run run = parse_result("f", text);
    ASSERT_EQ(run.cases.size(), 1U) << text;
    EXPECT_EQ(run.cases[0].name, name);
    ASSERT_EQ(run.cases[0].repetitions.size(), 1U) << text;
    EXPECT_DOUBLE_EQ(run.cases[0].repetitions[0].real_ns, ns) << text;
  }
}

TEST(ResultOfAnyTool, of_hyperfine_has_the_cpu_time_of_both_kinds) {
  const model::Run run = parse_result(
      "f", R"({"results": [{"command": "a", "user": 0.5, "system": 0.25, "times": [1, 2]}]})");
  EXPECT_DOUBLE_EQ(run.cases.at(0).repetitions.at(1).cpu_ns, 0.75e9);
}

TEST(ResultOfAnyTool, of_hyperfine_tells_apart_what_only_a_parameter_beside_the_command_does) {
  const model::Run run = parse_result("f", R"({"results": [
    {"command": "./a", "times": [1], "parameters": {"branch": "main", "n": "2"}},
    {"command": "./a", "times": [2], "parameters": {"branch": "new", "n": "2"}},
    {"command": "./b 2", "times": [3], "parameters": {"n": "2"}}]})");
  ASSERT_EQ(run.cases.size(), 3U);
  EXPECT_EQ(run.cases[0].name, "./a/branch:main/n:2");
  ASSERT_EQ(run.cases[0].repetitions.size(), 1U);
  EXPECT_DOUBLE_EQ(run.cases[0].repetitions[0].real_ns, 1e9);
  EXPECT_EQ(run.cases[1].name, "./a/branch:new/n:2");
  EXPECT_EQ(run.cases[2].name, "./b 2");
}

TEST(ResultOfAnyTool, is_refused_with_a_benchmark_that_cannot_be_used_or_without_any) {
  const auto says = [](const char* text) {
    return what_of<json::ReadError>([&] { static_cast<void>(parse_result("f", text)); });
  };
  EXPECT_EQ(says("BenchmarkA 10 0 ns/op\n"),
            "f: 'BenchmarkA' takes 0 ns, which no measurement gives");
  EXPECT_EQ(says("[]"), "f: has no benchmark");
  EXPECT_EQ(says(R"({"results": []})"), "f: has no benchmark");
  EXPECT_TRUE(contains(says("hello"), "is not valid JSON"));
  EXPECT_TRUE(contains(says(""), "is empty"));
}

}  // namespace
}  // namespace taskbench::reports::tools
