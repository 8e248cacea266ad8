#include "reports/tools/catch2.hpp"

#include <gtest/gtest.h>

#include "reports/json/parse.hpp"
#include "tests/reports/text.hpp"

namespace taskbench::reports::tools {
namespace {

constexpr const char* kOfVersion2 = R"(<?xml version="1.0" encoding="UTF-8"?>
<Catch name="b">
  <Group name="b">
    <TestCase name="sums, and more" tags="[a]" filename="b.cpp" line="7">
      <BenchmarkResults name="a &amp; &lt;b>" samples="20" resamples="1" iterations="59">
        <!--All values in nano seconds-->
        <mean value="277.344" lowerBound="277.242" upperBound="277.242" ci="0.95"/>
      </BenchmarkResults>
      <Section name="deeper" filename="b.cpp" line="10">
        <BenchmarkResults name="slow" samples="20" resamples="1" iterations="1">
          <mean value="514859" lowerBound="514859" upperBound="514859" ci="0.95"/>
        </BenchmarkResults>
        <OverallResults successes="0" failures="0" expectedFailures="0"/>
      </Section>
      <OverallResult success="true"/>
    </TestCase>
    <TestCase name="plain"><OverallResult success="true"/></TestCase>
  </Group>
</Catch>
)";

TEST(Catch2, names_a_benchmark_by_its_test_case_and_sections) {
  const model::Run run = parse_catch2("f", kOfVersion2);
  ASSERT_EQ(run.cases.size(), 2U);
  EXPECT_EQ(run.cases[0].name, "sums, and more/a & <b>");
  EXPECT_EQ(run.cases[1].name, "sums, and more/deeper/slow");
  ASSERT_EQ(run.cases[0].repetitions.size(), 1U);
  EXPECT_EQ(run.cases[0].repetitions[0].real_ns, 277.344);
  EXPECT_EQ(run.cases[0].repetitions[0].iterations, 20 * 59);
}

TEST(Catch2, reads_the_files_of_version_3_and_tells_the_runs_of_a_benchmark_apart) {
  const model::Run run = parse_catch2("f", R"(<Catch2TestRun name="b" rng-seed="1">
    <TestCase name="t">
      <BenchmarkResults name="a" samples="2" iterations="3"><mean value="5"/></BenchmarkResults>
      <BenchmarkResults name="b" samples="2" iterations="3"><mean value="6"/></BenchmarkResults>
      <BenchmarkResults name="a" samples="2" iterations="3"><mean value="700"/></BenchmarkResults>
      <BenchmarkResults name="a" samples="2" iterations="3"><mean value="8"/></BenchmarkResults>
    </TestCase></Catch2TestRun>)");
  ASSERT_EQ(run.cases.size(), 4U);
  EXPECT_EQ(run.cases[0].name, "t/a");
  ASSERT_EQ(run.cases[0].repetitions.size(), 1U);
  EXPECT_EQ(run.cases[0].repetitions[0].real_ns, 5);
  EXPECT_EQ(run.cases[2].name, "t/a/#2");
  EXPECT_EQ(run.cases[2].repetitions.at(0).real_ns, 700);
  EXPECT_EQ(run.cases[3].name, "t/a/#3");
}

TEST(Catch2, tells_why_a_benchmark_failed_and_which_has_no_time) {
  const model::Run run = parse_catch2("f", R"(<Catch2TestRun><TestCase name="t">
      <BenchmarkResults name="a"><failed message="out of luck"/></BenchmarkResults>
      <BenchmarkResults name="b"><mean value="0"/></BenchmarkResults>
    </TestCase></Catch2TestRun>)");
  EXPECT_EQ(run.cases.at(0).error, "out of luck");
  EXPECT_EQ(run.cases.at(1).unusable, "takes 0 ns, which no measurement gives");
}

TEST(Catch2, refuses_what_is_no_result) {
  EXPECT_TRUE(contains(what_of<json::ReadError>([&] {
                         static_cast<void>(parse_catch2("f.xml", "<Catch name='b'><Group>"));
                       }),
                       "f.xml: is no result of Catch2's reporter xml: line "));
  EXPECT_TRUE(contains(
      what_of<json::ReadError>([&] { static_cast<void>(parse_catch2("f.xml", "<testsuites/>")); }),
      "it has no element Catch2TestRun"));
  EXPECT_THROW(static_cast<void>(parse_catch2("f", "")), json::ReadError);
}

}  // namespace
}  // namespace taskbench::reports::tools
