#include "reports/json/writer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "reports/json/reader.hpp"
#include "tests/reports/sample_runs.hpp"
#include "tests/reports/text.hpp"

namespace taskbench::reports::json {
namespace {

using Json = nlohmann::ordered_json;

Json written(const model::Run& run) { return Json::parse(to_json(run)); }
Json written_flat(const model::Run& run) { return Json::parse(to_flat_json(run)); }

std::vector<std::string> names(const Json& file) {
  std::vector<std::string> result;
  for (const Json& row : file["benchmarks"]) result.push_back(row["name"]);
  return result;
}

std::string keys(const Json& object) {
  std::string result;
  for (const auto& [key, value] : object.items()) result += (result.empty() ? "" : " ") + key;
  return result;
}

const Json& row_named(const Json& file, const std::string& name) {
  for (const Json& row : file["benchmarks"]) {
    if (row["name"] == name) return row;
  }
  static const Json kNone = Json::object();
  ADD_FAILURE() << "no row " << name;
  return kNone;
}

TEST(Writer, context_is_google_benchmarks_with_schema_version_one) {
  const Json context = written(samples::complete_run())["context"];
  EXPECT_EQ(keys(context),
            "date host_name executable num_cpus mhz_per_cpu cpu_scaling_enabled aslr_enabled "
            "caches load_avg library_version library_build_type json_schema_version "
            "taskbench_version taskbench_build_type taskbench_compiler "
            "taskbench_compiler_flags taskbench_git_commit");
  EXPECT_EQ(context["library_build_type"], "debug") << "the library's";
  EXPECT_EQ(context["taskbench_build_type"], "Release") << "that of what was measured";
  EXPECT_EQ(context["json_schema_version"], 1);
  EXPECT_EQ(context["num_cpus"], 2);
  EXPECT_EQ(context["mhz_per_cpu"], 2000);
  EXPECT_TRUE(context["mhz_per_cpu"].is_number_integer());
  EXPECT_EQ(context["caches"][3], Json::parse(R"({"type": "Unified", "level": 3,
                                                  "size": 110100480, "num_sharing": 2})"));
  EXPECT_EQ(context["load_avg"], Json::parse("[0.21, 0.18, 0.1]"));
}

TEST(Writer, caches_and_load_are_arrays_even_when_nothing_is_known) {
  const Json context = written(model::Run{})["context"];
  EXPECT_EQ(context["caches"], Json::array());
  EXPECT_EQ(context["load_avg"], Json::array());
  EXPECT_EQ(context["json_schema_version"], 1);
  // Unknown values are left out, as in Google Benchmark; false or 0 would be claims.
  for (const char* key : {"num_cpus", "mhz_per_cpu", "cpu_scaling_enabled", "aslr_enabled",
                          "library_version", "library_build_type", "taskbench_build_type",
                          "taskbench_compiler", "taskbench_git_commit"}) {
    EXPECT_FALSE(context.contains(key)) << key;
  }
}

TEST(Writer, repetition_row_has_google_benchmarks_keys_in_its_order_then_counters) {
  const Json row = written(samples::complete_run())["benchmarks"][1];
  EXPECT_EQ(keys(row),
            "name family_index per_family_instance_index run_name run_type repetitions "
            "repetition_index threads iterations real_time cpu_time time_unit "
            "involuntary_switches overflows parks polls steals voluntary_switches wakeups");
  EXPECT_EQ(row["name"], "chained_spawn/work_stealing/workers:2");
  EXPECT_EQ(row["run_name"], row["name"]);
  EXPECT_EQ(row["run_type"], "iteration");
  EXPECT_EQ(row["repetitions"], 9);
  EXPECT_EQ(row["repetition_index"], 1);
  EXPECT_EQ(row["threads"], 1);
  EXPECT_EQ(row["iterations"], 1663);
  EXPECT_DOUBLE_EQ(row["real_time"], 60363.8936);
  EXPECT_EQ(row["time_unit"], "ns");
  EXPECT_EQ(row["steals"], 0.31);
}

TEST(Writer, repetitions_of_a_case_are_followed_by_its_aggregates) {
  const std::string name = "chained_spawn/work_stealing/workers:2";
  std::vector<std::string> expected(9, name);
  for (const char* suffix : {"_mean", "_median", "_stddev", "_cv"}) {
    expected.push_back(name + suffix);
  }
  std::vector<std::string> first = names(written(samples::complete_run()));
  EXPECT_EQ(first.size(), 5U * 13U);
  first.resize(13);
  EXPECT_EQ(first, expected);
}

TEST(Writer, aggregate_row_has_google_benchmarks_keys_and_values) {
  const Json file = written(samples::complete_run());
  const std::string name = "chained_spawn/work_stealing/workers:2";
  const Json& median = row_named(file, name + "_median");
  EXPECT_EQ(keys(median),
            "name family_index per_family_instance_index run_name run_type repetitions "
            "threads aggregate_name aggregate_unit iterations real_time cpu_time time_unit "
            "involuntary_switches overflows parks polls steals voluntary_switches wakeups");
  EXPECT_EQ(median["run_name"], name);
  EXPECT_EQ(median["run_type"], "aggregate");
  EXPECT_EQ(median["aggregate_name"], "median");
  EXPECT_EQ(median["aggregate_unit"], "time");
  EXPECT_EQ(median["iterations"], 9);
  EXPECT_EQ(median["real_time"], 60123.4);
  EXPECT_EQ(median["steals"], 0.31);

  const Json& cv = row_named(file, name + "_cv");
  EXPECT_EQ(cv["aggregate_unit"], "percentage");
  EXPECT_EQ(cv["time_unit"], "ns");
  const double ratio = row_named(file, name + "_stddev")["real_time"].get<double>() /
                       row_named(file, name + "_mean")["real_time"].get<double>();
  EXPECT_DOUBLE_EQ(cv["real_time"], ratio);
  // Deviations of 0, 0.4, -0.6, 1.3, -0.2, 0.9, -0.8, 3.1 and -1.1 per cent: the result of stdev()
  // over mean() in Python's statistics module.
  EXPECT_NEAR(ratio, 0.0129568106312, 1e-12);
}

TEST(Writer, single_repetition_has_no_aggregates) {
  EXPECT_EQ(names(written(samples::single_repetition_run())),
            std::vector<std::string>{"chained_spawn/current_thread/workers:1"});
}

TEST(Writer, families_are_workloads_and_instances_their_cases) {
  const Json file = written(samples::several_schedulers_run());
  const auto indices = [&](const char* name) {
    const Json& row = row_named(file, name);
    return std::pair<int, int>{row["family_index"], row["per_family_instance_index"]};
  };
  EXPECT_EQ(indices("chained_spawn/work_stealing/workers:1"), std::pair(0, 0));
  EXPECT_EQ(indices("chained_spawn/current_thread/workers:1"), std::pair(0, 2));
  EXPECT_EQ(indices("spawn_local/work_stealing/workers:2"), std::pair(3, 1));
}

TEST(Writer, counters_never_take_a_key_of_google_benchmark) {
  const Json row = written(samples::hostile_run())["benchmarks"][0];
  EXPECT_EQ(row["name"], "chained_spawn/work_stealing/workers:2");
  EXPECT_EQ(row["iterations"], 1663);
  EXPECT_FALSE(row.contains("label"));
  EXPECT_DOUBLE_EQ(row["real_time"], 60123.4);
  EXPECT_EQ(row["counter_name"], 9);
  EXPECT_EQ(row["counter_label"], 10);
  EXPECT_EQ(row["counter_real_time"], 11);
  // "counter_iterations" was taken by a counter of that name.
  EXPECT_EQ(row["counter_iterations"], 8);
  EXPECT_EQ(row["counter_counter_iterations"], 7);
  EXPECT_EQ(row["counter_"], 12);
}

TEST(Writer, of_a_program_each_process_is_a_row_and_its_counters_keep_their_names) {
  model::Run run = samples::complete_run();
  run.settings.repetitions = 2;
  run.settings.processes = 12;
  run.settings.kind = "lines";
  run.cases.resize(1);
  run.cases[0].workload = "";
  for (auto& repetition : run.cases[0].repetitions) {
    repetition.cpu_ns = 0;
    repetition.counters = {{"items_per_second", 5}, {"threads", 6}};
  }
  const Json file = written(run);
  const Json& row = file["benchmarks"][0];
  EXPECT_EQ(row["repetitions"], 12);
  EXPECT_EQ(row["items_per_second"], 5);
  EXPECT_EQ(row["counter_threads"], 6);
  EXPECT_EQ(row["cpu_time"], 0);
  const Json& summary = file["taskbench"]["cases"][0]["summary"];
  EXPECT_TRUE(summary["cpu_ns_median"].is_null());
  EXPECT_TRUE(summary["cpu_ns_mad"].is_null());
  EXPECT_EQ(file["taskbench"]["settings"]["processes"], 12);
  EXPECT_EQ(file["taskbench"]["settings"]["kind"], "lines");
  const model::Run read = parse_result_file("r.json", to_json(run));
  EXPECT_EQ(read.settings.processes, 12);
  EXPECT_EQ(read.settings.kind, "lines");
  const Json ours = written(samples::complete_run());
  EXPECT_FALSE(ours["taskbench"]["settings"].contains("processes"));
  EXPECT_FALSE(ours["taskbench"]["settings"].contains("kind"));
}

TEST(Writer, there_is_no_nan_and_no_infinity_anywhere) {
  for (const samples::NamedRun& sample : samples::all()) {
    for (const std::string& text : {to_json(sample.make()), to_flat_json(sample.make())}) {
      // Only quoted strings may contain the words; elsewhere they would not be JSON, and parse()
      // would throw. A number that overflows to infinity would pass parse().
      const Json file = Json::parse(text);
      for (const Json& row : file["benchmarks"]) {
        for (const auto& [key, value] : row.items()) {
          EXPECT_FALSE(value.is_null()) << sample.name << " " << key;
          EXPECT_TRUE(!value.is_number() || std::isfinite(value.get<double>())) << key;
        }
      }
    }
  }
}

TEST(Writer, repetition_with_impossible_times_is_left_out_and_reported) {
  const Json file = written(samples::hostile_run());
  EXPECT_EQ(names(file)[2], "chained_spawn/work_stealing/workers:2");
  EXPECT_EQ(names(file)[3], "chained_spawn/work_stealing/workers:2_mean");
  const Json& measured = file["taskbench"]["cases"][0];
  EXPECT_EQ(measured["summary"]["samples"], 3);
  ASSERT_EQ(measured["errors"].size(), 1U);
  EXPECT_TRUE(contains(measured["errors"][0].get<std::string>(), "repetition 3 was left out"));
  EXPECT_EQ(measured["failed"], false);
}

TEST(Writer, failed_case_stands_under_taskbench_only) {
  for (const Json& file : {written(samples::failed_run()), written_flat(samples::failed_run())}) {
    for (const std::string& name : names(file)) {
      EXPECT_FALSE(contains(name, "ping_pong"));
    }
    const Json& failed = file["taskbench"]["cases"][1];
    EXPECT_EQ(failed["name"], "ping_pong/work_stealing/workers:2");
    EXPECT_EQ(failed["failed"], true);
    EXPECT_EQ(failed["errors"], Json::array({"999 of 1,000 partners answered in iteration 17"}));
    EXPECT_TRUE(failed["summary"].is_null());
    EXPECT_TRUE(failed["context_switches_per_iteration"].is_null());
  }
}

TEST(Writer, partial_run_is_marked_and_keeps_what_it_has) {
  const Json file = written(samples::partial_run());
  EXPECT_EQ(file["taskbench"]["partial"], true);
  EXPECT_EQ(names(file).size(), 3U + 4U + 2U + 4U);
  EXPECT_EQ(file["benchmarks"][0]["repetitions"], 9);  // as requested
  EXPECT_EQ(file["taskbench"]["cases"][0]["summary"]["samples"], 3);
  const Json& unmeasured = file["taskbench"]["cases"][2];
  EXPECT_EQ(unmeasured["failed"], false);
  EXPECT_EQ(unmeasured["errors"], Json::array({"no repetition was completed"}));
  EXPECT_EQ(written(samples::complete_run())["taskbench"]["partial"], false);
}

TEST(Writer, taskbench_object_has_version_environment_settings_and_cases) {
  const Json ours = written(samples::complete_run())["taskbench"];
  EXPECT_EQ(ours["schema_version"], 1);
  EXPECT_EQ(ours["version"], "0.1.0");
  EXPECT_EQ(ours["environment"]["cpu_model"], "Intel(R) Xeon(R) Processor @ 2.00GHz");
  EXPECT_TRUE(ours["environment"]["cpu_governor"].is_null());  // could not be determined
  EXPECT_EQ(ours["environment"]["memory_bytes"], 8'325'898'240);
  EXPECT_EQ(ours["settings"]["command_line"],
            Json::array({"taskbench", "run", "--json", "results.json"}));
  EXPECT_TRUE(ours["settings"]["time_budget_s"].is_null());
  const Json& measured = ours["cases"][4];
  EXPECT_EQ(measured["workload"], "yield_many");
  EXPECT_EQ(measured["scheduler"], "work_stealing");
  EXPECT_EQ(measured["workers"], 2);
  EXPECT_EQ(measured["parameters"], Json::parse(R"({"tasks": 200000})"));
  EXPECT_EQ(measured["operation"], "yield");
  EXPECT_EQ(measured["operations_per_iteration"], 200'000);
  EXPECT_EQ(measured["summary"]["samples"], 9);
  EXPECT_DOUBLE_EQ(measured["summary"]["real_ns_median"], 5'123'456.7);
  EXPECT_NEAR(measured["summary"]["real_ns_mad"], 40'987.65, 0.01);
  EXPECT_DOUBLE_EQ(measured["summary"]["ns_per_operation"], 25.6172835);
  EXPECT_EQ(measured["counters_per_iteration"]["steals"], 212);
  EXPECT_EQ(measured["errors"], Json::array());
}

TEST(Writer, context_switches_are_null_with_a_reason_when_not_measured) {
  const auto switches = [](const model::Run& run) {
    return written(run)["taskbench"]["cases"][0]["context_switches_per_iteration"];
  };
  EXPECT_EQ(switches(samples::single_repetition_run()),
            Json::parse(R"({"voluntary": null, "involuntary": null, "both": null,
                            "reason": "getrusage: Function not implemented"})"));
  EXPECT_FALSE(
      written(samples::single_repetition_run())["benchmarks"][0].contains("voluntary_switches"));
  model::Run run = samples::single_repetition_run();
  run.cases[0].switches_unavailable.clear();
  EXPECT_EQ(switches(run)["reason"], "not measured");
  EXPECT_TRUE(switches(samples::complete_run())["reason"].is_null());
  EXPECT_DOUBLE_EQ(switches(samples::complete_run())["both"], 2.02);
}

TEST(Writer, spread_of_one_repetition_is_unknown_and_not_zero) {
  const Json summary =
      written(samples::single_repetition_run())["taskbench"]["cases"][0]["summary"];
  EXPECT_EQ(summary["samples"], 1);
  EXPECT_TRUE(summary["real_ns_mad"].is_null());
  EXPECT_TRUE(summary["cpu_ns_mad"].is_null());
}

TEST(Writer, text_that_is_not_utf8_becomes_replacement_characters) {
  const Json file = written(samples::hostile_run());
  EXPECT_EQ(file["context"]["host_name"], "h\xEF\xBF\xBD(st");
  EXPECT_EQ(file["taskbench"]["settings"]["command_line"][2], "a\"b\\c\n\xEF\xBF\xBD.json");
}

TEST(Writer, whole_numbers_survive_to_64_bits) {
  EXPECT_EQ(written(samples::hostile_run())["taskbench"]["settings"]["seed"].get<std::uint64_t>(),
            18'446'744'073'709'551'615U);
}

TEST(Writer, times_are_written_with_every_digit) {
  model::Run run = samples::single_repetition_run();
  run.cases[0].repetitions[0].real_ns = 1.0 / 3.0;
  EXPECT_EQ(written(run)["benchmarks"][0]["real_time"].get<double>(), 1.0 / 3.0);
}

TEST(Writer, run_without_cases_is_a_whole_file) {
  const Json file = written(samples::empty_run());
  EXPECT_EQ(file["benchmarks"], Json::array());
  EXPECT_EQ(file["taskbench"]["cases"], Json::array());
}

TEST(Writer, file_ends_with_one_newline) {
  for (const std::string& text :
       {to_json(samples::complete_run()), to_flat_json(samples::complete_run())}) {
    ASSERT_GE(text.size(), 2U);
    EXPECT_EQ(text.substr(text.size() - 2), "}\n");
  }
}

TEST(FlatWriter, one_row_a_case_with_its_medians_under_the_plain_name) {
  const Json file = written_flat(samples::complete_run());
  EXPECT_EQ(names(file),
            (std::vector<std::string>{
                "chained_spawn/work_stealing/workers:2", "ping_pong/work_stealing/workers:2",
                "spawn_many/work_stealing/workers:2", "spawn_local/work_stealing/workers:2",
                "yield_many/work_stealing/workers:2"}));
  const Json& row = file["benchmarks"][0];
  EXPECT_EQ(row["run_type"], "iteration");
  EXPECT_EQ(row["repetitions"], 1);
  EXPECT_EQ(row["repetition_index"], 0);
  EXPECT_EQ(row["real_time"], 60123.4);
  EXPECT_EQ(row["iterations"], 9 * 1663);
  EXPECT_EQ(row["label"], "median of 9 repetitions");
  EXPECT_EQ(row["steals"], 0.31);
}

TEST(FlatWriter, no_name_comes_twice) {
  for (const samples::NamedRun& sample : samples::all()) {
    const std::vector<std::string> all = names(written_flat(sample.make()));
    EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size()) << sample.name;
  }
}

TEST(FlatWriter, taskbench_object_is_the_same_as_in_the_full_file) {
  EXPECT_EQ(written_flat(samples::partial_run())["taskbench"],
            written(samples::partial_run())["taskbench"]);
}

TEST(Writer, drift_is_null_with_a_reason_where_it_is_not_known_and_names_what_moved) {
  const Json drift = written(samples::complete_run())["taskbench"]["drift"];
  EXPECT_EQ(drift["stolen_share"], 0.031);
  EXPECT_EQ(drift["quota_throttles"], 0);
  EXPECT_TRUE(drift["mhz_before"].is_null());
  EXPECT_EQ(keys(drift["reasons"]), "mhz_before mhz_after thermal_throttles");
  EXPECT_EQ(drift["reasons"]["mhz_after"], "no cpufreq in /sys");
  EXPECT_EQ(drift["moved"], Json::parse(R"(["stolen_share", "swapped_pages"])"));
}

TEST(Writer, drift_of_a_run_that_was_not_watched_has_a_reason_for_each_null) {
  const Json drift = written(samples::empty_run())["taskbench"]["drift"];
  EXPECT_EQ(drift["reasons"].size(), 7U);
  EXPECT_EQ(drift["moved"], Json::array());
}

TEST(Writer, what_was_counted_stands_in_the_rows) {
  const model::Run run = samples::counted_run();
  const std::string name = run.cases[0].name;
  const Json rows = written(run)["benchmarks"];
  for (const Json& each : rows) {
    if (each["run_name"] != name) continue;
    EXPECT_FALSE(each.contains("cycles")) << "it could not be counted";
    EXPECT_FALSE(each.contains("branch-misses")) << "only user mode was";
    if (each["run_type"] == "iteration") {
      EXPECT_EQ(each["branch-misses:u"], 1200);  // the median of 1190, 1200 and 1250
      EXPECT_EQ(each["task-clock"], 61'000);
    } else if (each["aggregate_name"] == "mean") {
      EXPECT_DOUBLE_EQ(each["branch-misses:u"], 3640.0 / 3);
    } else if (each["aggregate_name"] == "stddev") {
      EXPECT_NEAR(each["branch-misses:u"], 32.145503, 1e-6);
    }
  }
  const Json flat = Json::parse(to_flat_json(run))["benchmarks"];
  EXPECT_EQ(flat[0]["branch-misses:u"], 1200);
  EXPECT_EQ(flat[0]["task-clock"], 61'000);
}

TEST(Writer, what_was_counted_hides_no_counter_of_the_scheduler_and_no_key) {
  model::Run run = samples::counted_run();
  run.cases.resize(1);
  run.cases[0].events = {{"steals", "", {7}, {}, false, ""}, {"threads", "", {8}, {}, false, ""}};
  for (auto& repetition : run.cases[0].repetitions) repetition.counters = {{"steals", 1}};
  const Json rows = written(run)["benchmarks"];
  EXPECT_EQ(rows[0]["steals"], 1);
  EXPECT_EQ(rows[0]["counter_steals"], 7);
  EXPECT_EQ(rows[0]["threads"], 1);
  EXPECT_EQ(rows[0]["counter_threads"], 8);
  for (const Json& row : rows) {  // a single counting process has no spread
    const bool of_spread = row.value("aggregate_name", "") == "cv";
    EXPECT_EQ(row.contains("counter_steals"),
              !of_spread && row.value("aggregate_name", "") != "stddev");
  }
  const auto file = parse_result_file("r.json", to_json(run));
  const model::Counters own = file.cases[0].repetitions[0].counters;
  EXPECT_EQ(own.at("steals"), 1) << "read back, an event is no counter of a repetition";
  EXPECT_FALSE(own.contains("counter_steals"));
  EXPECT_FALSE(own.contains("counter_threads"));
  EXPECT_EQ(file.cases[0].events[0].per_iteration, (std::vector<double>{7}));
}

}  // namespace
}  // namespace taskbench::reports::json
