#include "reports/tools/printed.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace taskbench::reports::tools {
namespace {

std::vector<std::string> names(const model::Run& run) {
  std::vector<std::string> result;
  for (const model::Case& each : run.cases) result.push_back(each.name);
  return result;
}

using Names = std::vector<std::string>;

TEST(GoText, has_a_repetition_a_line_and_counters_by_their_units) {
  const model::Run run = parse_go(
      "goos: linux\ngoarch: amd64\npkg: sort\ncpu: AMD EPYC\n"
      "BenchmarkSort-2 \t    1000\t      1234.5 ns/op\t      12 B/op\t       3 allocs/op\n"
      "BenchmarkSort-2 \t    1010\t      1200 ns/op\t      12 B/op\t       3 allocs/op\n"
      "BenchmarkHash/size=10-2 \t 5 \t 1e3 ns/op \t 2.5 steals/op\n"
      "PASS\nok  \tsort\t1.2s\n");
  EXPECT_EQ(names(run), (Names{"BenchmarkSort", "BenchmarkHash/size=10"}));
  EXPECT_EQ(run.environment.cpu_model, "AMD EPYC");
  const auto& sort = run.cases[0].repetitions;
  ASSERT_EQ(sort.size(), 2U);
  EXPECT_EQ(sort[0].iterations, 1000);
  EXPECT_EQ(sort[0].real_ns, 1234.5);
  EXPECT_EQ(sort[0].cpu_ns, 0);
  EXPECT_EQ(sort[0].counters.at("allocs/op"), 3);
  EXPECT_EQ(sort[1].index, 1);
  EXPECT_EQ(run.cases[1].repetitions[0].counters.at("steals/op"), 2.5);
}

TEST(GoText, keeps_a_number_that_is_not_that_of_all_names) {
  const model::Run run = parse_go("BenchmarkA-1 1 2 ns/op\nBenchmarkA-2 1 2 ns/op\n");
  EXPECT_EQ(names(run), (Names{"BenchmarkA-1", "BenchmarkA-2"}));
  EXPECT_EQ(names(parse_go("BenchmarkA 1 2 ns/op\nBenchmarkB-2 1 2 ns/op\n")),
            (Names{"BenchmarkA", "BenchmarkB-2"}));
}

TEST(GoText, keeps_a_number_that_belongs_to_requested_names) {
  const Names sha{"BenchmarkHash/sha-256"};
  EXPECT_EQ(names(parse_go("BenchmarkHash/sha-256 1 2 ns/op\n", sha)), sha);
  EXPECT_EQ(names(parse_go("BenchmarkHash/sha-256-8 1 2 ns/op\n", sha)), sha);
  const Names both{"BenchmarkHash/sha", "BenchmarkHash/sha-256"};
  EXPECT_EQ(names(parse_go("BenchmarkHash/sha-256 1 2 ns/op\n"
                           "BenchmarkHash/sha-256-256 1 2 ns/op\n",
                           both)),
            both)
      << "with 256 CPUs";
}

TEST(GoText, keeps_a_number_of_names_that_are_also_printed_alone) {
  const std::string alone = "BenchmarkFib\nBenchmarkFib/n-30\n";
  for (const char* cpus : {"", "-8"}) {
    const std::string result = std::string("BenchmarkFib/n-30") + cpus + "  \t 1\t 2 ns/op\n";
    EXPECT_EQ(names(parse_go(alone + result)), Names{"BenchmarkFib/n-30"}) << cpus;
  }
  EXPECT_EQ(names(parse_go("BenchmarkA-8 \t\nBenchmarkA-8 \t 1\t 2 ns/op\n")), Names{"BenchmarkA"})
      << "the benchmark itself ended its first line";
}

TEST(GoText, has_results_in_lines_of_their_own_after_what_benchmarks_print) {
  const model::Run run = parse_go(
      "started\nBenchmarkSort-2   \tsorted 3\n5 is not sorted\n"
      "     100\t      1500 ns/op\t       3 allocs/op\n"
      "BenchmarkHash-2   \t\n     200\t      20.5 ns/op\n     300\t      7 ns/op\nPASS\n");
  EXPECT_EQ(names(run), (Names{"BenchmarkSort", "BenchmarkHash"}));
  ASSERT_EQ(run.cases[0].repetitions.size(), 1U);
  EXPECT_EQ(run.cases[0].repetitions[0].iterations, 100);
  EXPECT_EQ(run.cases[0].repetitions[0].real_ns, 1500);
  EXPECT_EQ(run.cases[0].repetitions[0].counters.at("allocs/op"), 3);
  EXPECT_EQ(run.cases[1].repetitions.size(), 1U) << "a name has one result";
}

TEST(GoText, of_several_packages_has_their_names_where_those_of_benchmarks_are_the_same) {
  const std::string first = "pkg: example.org/list\nBenchmarkSort-2 1 10 ns/op\n";
  const model::Run run = parse_go(first + "BenchmarkHash-2 1 20 ns/op\nPASS\n" +
                                  "pkg: example.org/tree\nBenchmarkSort-2 1 30 ns/op\n" + first);
  EXPECT_EQ(names(run), (Names{"example.org/list.BenchmarkSort", "BenchmarkHash",
                               "example.org/tree.BenchmarkSort"}));
  EXPECT_EQ(run.cases[0].repetitions.size(), 2U);
  ASSERT_EQ(run.cases[2].repetitions.size(), 1U);
  EXPECT_EQ(run.cases[2].repetitions[0].real_ns, 30);
}

TEST(GoText, has_no_metric_that_is_not_finite) {
  const model::Run run = parse_go("BenchmarkA 1 2 ns/op NaN hits/op +Inf a/op -Inf b/op 3 c/op\n");
  ASSERT_EQ(run.cases.size(), 1U);
  EXPECT_EQ(run.cases[0].repetitions.at(0).counters, (model::Counters{{"c/op", 3}}));
}

TEST(GoText, leaves_out_what_is_no_result) {
  EXPECT_TRUE(parse_go("").cases.empty());
  EXPECT_TRUE(parse_go("BenchmarkA\nBenchmarkA-2\t\nBenchmarkA x 2 ns/op\nBenchmarkA 0 2 ns/op\n"
                       "BenchmarkA 3 many ns/op\n--- FAIL: BenchmarkA\nSort 3 4 ns/op")
                  .cases.empty());
}

TEST(GoText, of_a_benchmark_without_a_time_is_unusable) {
  const model::Run run = parse_go("BenchmarkA 3 7 widgets/op\nBenchmarkB 3 0 ns/op\n");
  EXPECT_EQ(run.cases[0].unusable, "takes 0 ns, which no measurement gives");
  EXPECT_EQ(run.cases[1].unusable, "takes 0 ns, which no measurement gives");
}

TEST(LibtestText, has_the_median_of_each_benchmark) {
  const model::Run run = parse_libtest(
      "\nrunning 3 tests\ntest tests::plain ... ok\n"
      "test tests::sort ... bench:       1,234,567 ns/iter (+/- 56)\n"
      "test hash a file ... bench:         12.50 ns/iter (+/- 0.25) = 640 MB/s\n"
      "test none        ... bench:           0 ns/iter (+/- 0)\n"  // padded like real output
      "\ntest result: ok. 1 passed; 0 failed; 0 ignored; 2 measured; 0 filtered out\n");
  EXPECT_EQ(names(run), (Names{"tests::sort", "hash a file", "none"}));
  EXPECT_EQ(run.cases[0].repetitions.at(0).real_ns, 1'234'567);
  EXPECT_EQ(run.cases[1].repetitions.at(0).real_ns, 12.5);
  EXPECT_EQ(run.cases[0].step_ns, 1);
  EXPECT_DOUBLE_EQ(run.cases[1].step_ns, 0.01);
  EXPECT_EQ(run.cases[2].unusable, "takes 0 ns, which no measurement gives");
}

TEST(LibtestText, of_several_targets_has_their_names_where_those_of_benchmarks_are_the_same) {
  const auto target = [](const std::string& title, const std::string& benchmark) {
    return "     Running " + title + "\n\nrunning 1 test\ntest " + benchmark +
           " ... bench:  7 ns/iter (+/- 0)\n";
  };
  const std::string first = target("benches/a.rs (target/release/deps/a-1f)", "sort");
  EXPECT_EQ(names(parse_libtest(first + target("benches/a.rs (target/release/deps/a-1f)", "hash") +
                                target("benches/b.rs (target/release/deps/b-2e)", "sort"))),
            (Names{"benches/a.rs/sort", "hash", "benches/b.rs/sort"}));
  const model::Run run =
      parse_libtest(first + target("benches/a.rs (target/release/deps/a-3d)", "sort"));
  EXPECT_EQ(run.cases.at(1).unusable,
            "is in two programs of that name; write a file for each of them");
}

TEST(LinesOfText, are_a_name_a_value_and_a_unit_of_time) {
  const model::Run run = parse_lines(
      "starting\nsort 1.5 ms\r\nsort 2 ms\nread a file 3 µs\nn 4 ns\ns 5 s\nu 6 us\nlast 7 ns");
  EXPECT_EQ(names(run), (Names{"sort", "read a file", "n", "s", "u", "last"}));
  EXPECT_EQ(run.cases[0].repetitions.size(), 2U);
  EXPECT_EQ(run.cases[0].repetitions[0].real_ns, 1.5e6);
  EXPECT_EQ(run.cases[0].repetitions[0].iterations, 1);
  EXPECT_EQ(run.cases[1].repetitions[0].real_ns, 3e3);
  EXPECT_EQ(run.cases[3].repetitions[0].real_ns, 5e9);
}

TEST(LinesOfText, know_the_step_between_times_by_the_last_digit) {
  const model::Run run =
      parse_lines("whole 7 ns\nfine 12.50 us\nfine 12.5 us\npower 1.25e+01 ms\nminus 12.5E-1 ns\n");
  EXPECT_DOUBLE_EQ(run.cases[0].step_ns, 1);
  EXPECT_DOUBLE_EQ(run.cases[1].step_ns, 10) << "the finest counts";
  EXPECT_DOUBLE_EQ(run.cases[2].step_ns, 1e5);
  EXPECT_DOUBLE_EQ(run.cases[3].step_ns, 0.01);
}

TEST(LinesOfText, with_another_unit_are_counters_of_the_time_before) {
  const model::Run run = parse_lines(
      "sort 1 ms\nsort 7 peak_bytes\nhash 3 ms\nsort 2 ms\n"
      "sort 9 peak_bytes\nsort 0.5 hits/s\n");
  ASSERT_EQ(run.cases[0].repetitions.size(), 2U);
  EXPECT_EQ(run.cases[0].repetitions[0].counters.at("peak_bytes"), 7);
  EXPECT_EQ(run.cases[0].repetitions[1].counters.at("peak_bytes"), 9);
  EXPECT_EQ(run.cases[0].repetitions[1].counters.at("hits/s"), 0.5);
  EXPECT_TRUE(run.cases[0].unusable.empty());
  EXPECT_TRUE(run.cases[1].repetitions[0].counters.empty());
}

TEST(LinesOfText, know_only_the_units_of_time_that_are_promised) {
  const model::Run run = parse_lines("latency 3.1 ms\nlatency 2.8 min\nlatency 4 hr\n");
  ASSERT_EQ(run.cases.size(), 1U);
  ASSERT_EQ(run.cases[0].repetitions.size(), 1U);
  EXPECT_EQ(run.cases[0].repetitions[0].counters, (model::Counters{{"hr", 4}, {"min", 2.8}}));
}

TEST(LinesOfText, have_no_metric_that_is_not_finite) {
  const model::Run run = parse_lines("cache 1 ms\ncache nan hit_ratio\ncache inf a\ncache 2 b\n");
  EXPECT_EQ(run.cases.at(0).repetitions.at(0).counters, (model::Counters{{"b", 2}}));
  EXPECT_TRUE(run.cases[0].unusable.empty());
}

TEST(LinesOfText, may_say_which_way_a_metric_is_better) {
  const model::Run run = parse_lines(
      "sort 1 ms less\nsort 7 peak_bytes less\nsort 9 score more\nsort 3 more\nsort more 2 ms\n"
      "hash 1 ms more\n");
  EXPECT_EQ(run.more_is_better,
            (std::map<std::string, std::set<bool>>{{"peak_bytes", {false}}, {"score", {true}}}));
  EXPECT_EQ(names(run), (Names{"sort", "sort more", "hash"}));
  const auto& counters = run.cases[0].repetitions.at(0).counters;
  EXPECT_EQ(counters.at("peak_bytes"), 7);
  EXPECT_EQ(counters.at("score"), 9);
  EXPECT_EQ(counters.at("more"), 3) << "a unit may be called so";
  EXPECT_EQ(run.cases[2].unusable, "says that more of its time is better");
}

TEST(LinesOfText, with_another_unit_or_no_time_make_a_benchmark_unusable) {
  const model::Run run = parse_lines("size 3 MB\nzero 0 s\nless -1 s\nnone nan s\nendless inf s\n");
  EXPECT_EQ(
      run.cases[0].unusable,
      "is in 'MB', which is no unit of time (ns, us, ms, s); a metric comes after the time of "
      "its benchmark");
  EXPECT_EQ(run.cases[1].unusable, "takes 0 ns, which no measurement gives");
  EXPECT_EQ(run.cases[2].unusable, "takes -1000000000 ns, which no measurement gives");
  EXPECT_FALSE(run.cases[3].unusable.empty());
  EXPECT_FALSE(run.cases[4].unusable.empty());
}

TEST(LinesOfText, leave_out_what_has_another_form) {
  EXPECT_TRUE(parse_lines("\n\nsort\n3 ms\nit took 3ms\nall is well\n").cases.empty());
}

}  // namespace
}  // namespace taskbench::reports::tools
