// Reading Google Benchmark's result files, valid and invalid.
#include "reports/json/reader.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "reports/json/writer.hpp"
#include "tests/reports/sample_runs.hpp"
#include "tests/reports/text.hpp"

namespace taskbench::reports::json {
namespace {

/// What Google Benchmark 1.7 wrote for two repetitions and their aggregates, shortened.
constexpr std::string_view kSound = R"({
  "context": {
    "date": "2026-11-20T10:00:00+00:00", "host_name": "host", "executable": "./bench",
    "num_cpus": 2, "mhz_per_cpu": 2100, "caches": [], "load_avg": [0.1],
    "library_build_type": "release", "json_schema_version": 1
  },
  "benchmarks": [
    {"name": "BM_sort/8", "family_index": 0, "per_family_instance_index": 0,
     "run_name": "BM_sort/8", "run_type": "iteration", "repetitions": 2, "repetition_index": 0,
     "threads": 1, "iterations": 10, "real_time": 1.5, "cpu_time": 1.25, "time_unit": "us",
     "items_per_second": 5e6},
    {"name": "BM_sort/8", "family_index": 0, "per_family_instance_index": 0,
     "run_name": "BM_sort/8", "run_type": "iteration", "repetitions": 2, "repetition_index": 1,
     "threads": 1, "iterations": 10, "real_time": 2.5, "cpu_time": 0, "time_unit": "us"},
    {"name": "BM_sort/8_cv", "family_index": 0, "per_family_instance_index": 0,
     "run_name": "BM_sort/8", "run_type": "aggregate", "repetitions": 2, "threads": 1,
     "aggregate_name": "cv", "aggregate_unit": "percentage", "iterations": 2,
     "real_time": 0.35, "cpu_time": NaN, "time_unit": "us"},
    {"name": "BM_x_BigO", "run_name": "BM_x", "run_type": "aggregate", "aggregate_name": "BigO",
     "cpu_coefficient": 1.0, "real_coefficient": 1.0, "big_o": "N", "time_unit": "ns"},
    {"name": "BM_bad", "run_name": "BM_bad", "run_type": "iteration", "repetitions": 1,
     "repetition_index": 0, "threads": 1, "error_occurred": true, "error_message": "no disk",
     "iterations": 0, "real_time": 0, "cpu_time": 0, "time_unit": "ns"}
  ]
})";

std::string changed(std::string_view from, std::string_view to) {
  return replaced(std::string(kSound), from, to);
}

std::string failure(std::string_view text) {
  return what_of<ReadError>([&] { (void)parse_result_file("r.json", text); });
}

#define EXPECT_SAYS(text, part) EXPECT_TRUE(contains(failure(text), part))

TEST(reader_test, what_workloads_observed_is_told_from_counters) {
  const model::Run run = samples::observed_run();
  const model::Run file = parse_result_file("r.json", to_json(run));
  ASSERT_EQ(file.cases.size(), run.cases.size());
  for (std::size_t i = 0; i < run.cases.size(); ++i) {
    EXPECT_EQ(file.cases[i].observed, run.cases[i].observed);
    EXPECT_EQ(file.cases[i].repetitions[0].counters, run.cases[i].repetitions[0].counters);
  }
}

TEST(reader_test, what_loaded_a_server_is_read) {
  const model::Run file = parse_result_file("r.json", to_json(samples::observed_run()));
  ASSERT_TRUE(file.cases[0].load);
  EXPECT_EQ(file.cases[0].load->name, "wrk");
  EXPECT_EQ(file.cases[0].load->version, "4.1.0");
  EXPECT_FALSE(file.cases[1].load);
}

TEST(reader_test, repetitions_units_and_counters_are_read) {
  const model::Run file = parse_result_file("r.json", kSound);
  EXPECT_EQ(file.environment.host_name, "host");
  EXPECT_EQ(file.environment.cpu_count, 2);
  ASSERT_EQ(file.cases.size(), 2U);
  const auto& sort = file.cases[0];
  EXPECT_EQ(sort.name, "BM_sort/8");
  ASSERT_EQ(sort.repetitions.size(), 2U);
  EXPECT_DOUBLE_EQ(sort.repetitions[0].real_ns, 1500);
  EXPECT_DOUBLE_EQ(sort.repetitions[0].cpu_ns, 1250);
  EXPECT_EQ(sort.repetitions[0].iterations, 10);
  EXPECT_EQ(sort.repetitions[0].counters, (model::Counters{{"items_per_second", 5e6}}));
  EXPECT_TRUE(sort.has_aggregates);
  EXPECT_EQ(file.cases[1].error, "no disk");
}

TEST(reader_test, a_counter_may_be_called_like_a_key_of_an_asymptotic_fit) {
  for (const char* name : {"rms", "cpu_coefficient"}) {
    const auto text = changed(R"("items_per_second": 5e6)", fmt::format(R"("{}": 0.1)", name));
    const model::Run file = parse_result_file("r.json", text);
    ASSERT_EQ(file.cases[0].repetitions.size(), 2U) << name;
    EXPECT_EQ(file.cases[0].repetitions[0].counters, (model::Counters{{name, 0.1}}));
  }
  const auto old = changed(R"("run_type": "aggregate", "aggregate_name": "BigO",)", "");
  EXPECT_EQ(parse_result_file("r.json", old).cases.size(), 2U) << "a fit without its type";
}

TEST(reader_test, every_unit_is_converted) {
  for (const auto& [unit, ns] :
       {std::pair{"ns", 1.5}, {"us", 1.5e3}, {"ms", 1.5e6}, {"s", 1.5e9}}) {
    const auto text = changed(R"("cpu_time": 1.25, "time_unit": "us")",
                              fmt::format(R"("cpu_time": 1.25, "time_unit": "{}")", unit));
    EXPECT_DOUBLE_EQ(parse_result_file("r", text).cases[0].repetitions[0].real_ns, ns);
  }
  EXPECT_SAYS(changed(R"("time_unit": "us")", R"("time_unit": "h")"), "unknown time unit 'h'");
}

TEST(reader_test, what_taskbench_writes_is_read_back) {
  for (const model::Run& run : {samples::complete_run(), samples::failed_run()}) {
    const model::Run file = parse_result_file("r.json", to_json(run));
    EXPECT_EQ(file.settings.seed, run.settings.seed);
    std::size_t found = 0;
    for (const auto& each : run.cases) {
      for (const auto& benchmark : file.cases) {
        if (benchmark.name != each.name) continue;
        ++found;
        EXPECT_EQ(benchmark.error.empty(), each.error.empty()) << each.name;
        if (!each.error.empty()) continue;
        ASSERT_EQ(benchmark.repetitions.size(), each.repetitions.size()) << each.name;
        for (std::size_t i = 0; i < each.repetitions.size(); ++i) {
          EXPECT_DOUBLE_EQ(benchmark.repetitions[i].real_ns, each.repetitions[i].real_ns);
        }
      }
    }
    EXPECT_EQ(found, run.cases.size());
  }
}

TEST(reader_test, whatever_describes_the_measurement_is_read_back) {
  const auto own = [](const std::string& text) { return nlohmann::json::parse(text)["taskbench"]; };
  for (const auto& run : {samples::complete_run(), samples::counted_run()}) {
    const std::string text = to_json(run);
    const auto again = own(to_json(parse_result_file("result.json", text)));
    const auto before = own(text);
    for (const char* key : {"version", "partial", "environment", "settings", "cases"}) {
      EXPECT_EQ(again[key], before[key]) << key;
    }
  }
}

TEST(reader_test, what_is_not_as_it_should_be_is_as_if_it_were_missing) {
  auto file = nlohmann::json::parse(to_json(samples::complete_run()));
  file["context"]["num_cpus"] = -3;
  file["context"]["load_avg"] = {0.5, "NaN", 1};
  file["taskbench"]["settings"]["seed"] = true;
  file["taskbench"]["environment"]["kernel"] = 5;
  const model::Run run = parse_result_file("result.json", file.dump());
  EXPECT_EQ(run.environment.cpu_count, 0);
  EXPECT_EQ(run.environment.load_avg, (std::vector<double>{0.5, 1}));
  EXPECT_FALSE(run.settings.seed);
  EXPECT_EQ(run.environment.kernel, "");
}

TEST(reader_test, old_files_without_run_names_and_indices_are_read) {
  const auto file = parse_result_file(
      "r", R"({"benchmarks": [{"name": "a", "iterations": 1, "real_time": 3, "cpu_time": 3},
               {"name": "a", "iterations": 1, "real_time": 5, "cpu_time": 3}]})");
  ASSERT_EQ(file.cases.size(), 1U);
  EXPECT_EQ(file.cases[0].repetitions.size(), 2U);
}

TEST(reader_test, a_file_of_aggregates_alone_has_no_repetitions) {
  const auto file = parse_result_file(
      "r", R"({"benchmarks": [{"name": "a_mean", "run_name": "a", "run_type": "aggregate",
               "aggregate_name": "mean", "iterations": 2, "real_time": 3, "cpu_time": 3}]})");
  ASSERT_EQ(file.cases.size(), 1U);
  EXPECT_TRUE(file.cases[0].has_aggregates);
  EXPECT_TRUE(file.cases[0].repetitions.empty());
}

TEST(reader_test, empty_truncated_and_foreign_files_are_told_apart) {
  EXPECT_SAYS("", "is empty");
  EXPECT_SAYS(" \n", "is empty");
  EXPECT_SAYS(kSound.substr(0, 700), "is not valid JSON, at line");
  EXPECT_SAYS(kSound.substr(0, 700), "it is cut off there");
  EXPECT_SAYS("[1]", "it is not a JSON object");
  EXPECT_SAYS(R"({"a": 1})", "--benchmark_out_format=json");
  EXPECT_SAYS(R"({"taskbench_compare": 1, "benchmarks": [{"name": "a"}]})",
              "r.json: is the answer of `taskbench compare`, not a result: those are written by");
  EXPECT_SAYS(R"({"taskbench_paired": 1, "benchmarks": [{"name": "a"}]})",
              "is the report of `taskbench ab`, not a result");
  EXPECT_SAYS("{\"taskbench_journal\":3}\n{\"side\":\"base\"}\n",
              "is the journal of `taskbench ab` or `gate`, not a result");
  EXPECT_SAYS(R"({"taskbench_noise": 1, "benchma)", "`taskbench ab` finds it in its --store");
  EXPECT_SAYS(R"({"baselines": []})", "it is the answer of `taskbench baseline list`");
  EXPECT_SAYS(R"({"rungs": []})", "it looks like the answer of `taskbench list`");
  EXPECT_SAYS("\xff\xfe{}", "r.json: it is UTF-16");
  EXPECT_SAYS("{\"benchmarks\": [{\"name\": \"a\xff\"}]}", "r.json: it is not UTF-8, at line 1, ");
  EXPECT_SAYS(
      changed("\"real_time\": 1.5", "\"real_time\": 1e999"),
      "r.json: it holds a number that is too large, 1e999, at line 10, column 51 (byte 485)");
  EXPECT_SAYS(std::string(100'000, '['), "nested too deeply");
  EXPECT_SAYS(changed(R"("json_schema_version": 1)", R"("json_schema_version": 2)"),
              "2, and this taskbench reads version 1: use a later");
}

TEST(reader_test, times_that_no_measurement_gives_are_refused) {
  for (const char* value :
       {"NaN", "Infinity", "-1", "0", "\"1\"", "null", "1e999", "1e300", "5e-324"}) {
    EXPECT_NE(failure(changed("\"real_time\": 1.5", fmt::format("\"real_time\": {}", value))),
              "nothing was thrown")
        << value;
  }
  EXPECT_SAYS(changed("\"real_time\": 1.5, ", ""), "'BM_sort/8' has no real_time");
  EXPECT_SAYS(
      changed("\"iterations\": 10, \"real_time\": 1.5", "\"iterations\": 0, \"real_time\": 1.5"),
      "has \"iterations\": 0");
}

TEST(reader_test, exact_counts_that_no_program_takes_are_refused) {
  const auto with_counts = [](std::string_view event, std::string_view counts) {
    return changed(R"("benchmarks": [)",
                   fmt::format(R"("taskbench": {{"cases": [{{"name": "BM_sort/8",
                                "events_per_iteration": [{{"event": "{}", "values": {}}}]}}]}},
                                "benchmarks": [)",
                               event, counts));
  };
  for (const char* counts : {"[0]", "[1000, 0, 1000]", "[-1]", "[1000, -0.0]"}) {
    EXPECT_SAYS(with_counts(model::kInstructionsExact, counts), "r.json: 'BM_sort/8' has ");
  }
  EXPECT_SAYS(with_counts(model::kInstructionsExact, "[0]"),
              "has 0 instructions per iteration, which no program takes");
  EXPECT_EQ(failure(with_counts(model::kInstructionsExact, "[0.25, 1000]")), "nothing was thrown");
  EXPECT_EQ(failure(with_counts("page-faults", "[0, 0]")), "nothing was thrown");
}

TEST(reader_test, two_benchmarks_of_one_name_are_refused) {
  const std::string same_index = changed("\"repetition_index\": 1", "\"repetition_index\": 0");
  EXPECT_SAYS(same_index, "has two benchmarks named 'BM_sort/8'");
  std::string other_family(kSound);
  other_family.replace(other_family.rfind("\"family_index\": 0, \"per_family_instance_index\": 0,\n"
                                          "     \"run_name\": \"BM_sort/8\", \"run_type\": \"iter"),
                       17, "\"family_index\": 1");
  EXPECT_SAYS(other_family, "has two benchmarks named");
}

TEST(reader_test, damage_is_read_or_refused_but_never_more) {
  for (std::size_t length = 0; length < kSound.size(); ++length) {
    (void)failure(kSound.substr(0, length));
  }
  std::mt19937 random(20261121);
  for (int i = 0; i < 2'000; ++i) {
    std::string text(kSound);
    text[random() % text.size()] = static_cast<char>(random() % 256);
    (void)failure(text);
  }
}

}  // namespace
}  // namespace taskbench::reports::json
