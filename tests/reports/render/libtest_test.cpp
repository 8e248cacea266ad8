#include <gtest/gtest.h>

#include <string>

#include "reports/render/render.hpp"
#include "tests/reports/sample_runs.hpp"
#include "tests/reports/text.hpp"

namespace taskbench::reports::render {
namespace {

model::Case bench(const char* workload, double median, double spread) {
  model::Case result;
  result.name = std::string(workload) + "/work_stealing/workers:2";
  result.workload = workload;
  result.scheduler = "work_stealing";
  result.workers = 2;
  for (const double ns : {median - spread / 2, median, median + spread / 2}) {
    model::Repetition repetition;
    repetition.iterations = 1;
    repetition.real_ns = ns;
    result.repetitions.push_back(repetition);
  }
  return result;
}

// The lines that "Making the Tokio scheduler 10x faster" prints for its new scheduler; libtest's
// layout is that of library/test/src/bench.rs, fmt_bench_samples, before Rust 1.78.
TEST(Libtest, prints_the_lines_of_the_article_to_the_letter) {
  model::Run run;
  run.cases = {bench("chained_spawn", 168'854, 8'339), bench("ping_pong", 562'659, 34'410),
               bench("spawn_many", 7'320'737, 264'620), bench("yield_many", 14'638'563, 1'573'678)};
  EXPECT_EQ(libtest(run),
            "test chained_spawn ... bench:     168,854 ns/iter (+/- 8,339)\n"
            "test ping_pong     ... bench:     562,659 ns/iter (+/- 34,410)\n"
            "test spawn_many    ... bench:   7,320,737 ns/iter (+/- 264,620)\n"
            "test yield_many    ... bench:  14,638,563 ns/iter (+/- 1,573,678)\n");
}

TEST(Libtest, value_is_right_aligned_in_eleven_columns_without_fractions) {
  const auto line = [](double median, double spread) {
    model::Run run;
    run.cases = {bench("a", median, spread)};
    return libtest(run);
  };
  EXPECT_EQ(line(7, 0), "test a ... bench:           7 ns/iter (+/- 0)\n");
  EXPECT_EQ(line(123'456'789'012, 0), "test a ... bench: 123,456,789,012 ns/iter (+/- 0)\n");
  EXPECT_EQ(line(1999.9, 3.9), "test a ... bench:       1,999 ns/iter (+/- 3)\n");
}

TEST(Libtest, workload_that_comes_several_times_goes_by_its_case_names) {
  const std::string text = libtest(samples::several_schedulers_run());
  EXPECT_TRUE(text.starts_with(
      "test chained_spawn/work_stealing/workers:1  ... bench:      72,749 ns/iter (+/- 3,055)\n"
      "test chained_spawn/work_stealing/workers:2  ... bench:      60,123 ns/iter (+/- 2,525)\n"))
      << text;
}

TEST(Libtest, changed_parameters_are_part_of_the_name) {
  model::Run run;
  run.cases = {bench("a", 7, 0)};
  run.cases[0].name += "/depth:5/width:2";
  EXPECT_TRUE(libtest(run).starts_with("test a/depth:5/width:2 ... bench: "));
}

TEST(Libtest, says_what_failed_and_what_was_not_measured) {
  const std::string text = libtest(samples::failed_run());
  EXPECT_TRUE(contains(text, "test ping_pong     ... FAILED\n"));
  EXPECT_TRUE(
      text.ends_with("\nfailures:\n\n---- ping_pong stdout ----\n"
                     "999 of 1,000 partners answered in iteration 17\n"))
      << text;
  EXPECT_TRUE(contains(libtest(samples::partial_run()),
                       "test yield_many    ... ignored, no repetition was completed\n"));
  EXPECT_EQ(libtest(samples::empty_run()), "\n");
}

}  // namespace
}  // namespace taskbench::reports::render
