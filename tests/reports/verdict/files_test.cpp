// What result files can show, and what they cannot.
#include "reports/verdict/files.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <optional>
#include <random>

#include "reports/json/writer.hpp"
#include "reports/render/measures.hpp"
#include "reports/render/render.hpp"
#include "tests/reports/printed.hpp"
#include "tests/reports/text.hpp"

namespace taskbench::reports::verdict {
namespace {

using Result = model::Run;

/// One process: `count` repetitions that agree with each other, around the process's own level.
Result process(std::mt19937_64& random, const std::map<std::string, double>& medians,
               double between = 0.01, int count = 9) {
  std::normal_distribution<double> normal;
  Result file;
  file.environment.host_name = "host";
  file.environment.cpu_count = 2;
  for (const auto& [name, ns] : medians) {
    model::Case benchmark;
    benchmark.name = name;
    const double level = ns * std::exp(between * normal(random));
    for (int i = 0; i < count; ++i) {
      benchmark.repetitions.push_back({i, 10, level * (1 + 0.0001 * i), level, {}});
    }
    file.cases.push_back(std::move(benchmark));
  }
  return file;
}

std::vector<Result> processes(std::mt19937_64& random, std::size_t count,
                              const std::map<std::string, double>& medians, double between = 0.01) {
  std::vector<Result> files;
  while (files.size() < count) files.push_back(process(random, medians, between));
  return files;
}

TEST(files_test, one_file_a_side_gives_the_ratio_of_medians_and_no_verdict) {
  std::mt19937_64 random(1);
  auto base = processes(random, 1, {{"a", 100}}, 0);
  auto head = processes(random, 1, {{"a", 150}}, 0);
  const FilesReport report = compare_files(base, head, {});
  ASSERT_EQ(report.rows.size(), 1U);
  EXPECT_NEAR(report.rows[0].change, 0.5, 1e-12);
  EXPECT_EQ(report.rows[0].verdict, Verdict::inconclusive);
  EXPECT_TRUE(contains(report.rows[0].reason, "one file a side"));
  EXPECT_FALSE(report.rows[0].low.has_value());
  EXPECT_EQ(report.overall, Verdict::inconclusive);
}

TEST(files_test, several_files_tell_the_slower_from_the_same) {
  std::mt19937_64 random(2);
  const FilesReport report = compare_files(processes(random, 8, {{"a", 100}, {"b", 100}}),
                                           processes(random, 8, {{"a", 120}, {"b", 100}}), {});
  EXPECT_EQ(report.rows[0].verdict, Verdict::fail);
  EXPECT_NEAR(report.rows[0].change, 0.2, 0.03);
  EXPECT_EQ(report.rows[1].verdict, Verdict::pass);
  EXPECT_EQ(report.overall, Verdict::fail);
}

/// The same files, with benchmarks that also report the metric `nodes`, at about this value.
std::vector<Result> reporting(std::mt19937_64& random, std::vector<Result> files, double nodes) {
  std::normal_distribution<double> normal;
  for (Result& file : files) {
    const double of_file = nodes * std::exp(0.01 * normal(random));
    for (model::Case& benchmark : file.cases) {
      for (auto& repetition : benchmark.repetitions) repetition.counters["nodes"] = of_file;
    }
  }
  return files;
}

/// The verdict on `nodes` of a benchmark with an unchanged time, from eight files a side.
JudgedFilesVerdict judged_nodes(double base, double head, bool more_is_better = false) {
  std::mt19937_64 random(12);
  const auto file_of = [&](double nodes) {
    return reporting(random, processes(random, 8, {{"a", 100}}), nodes);
  };
  FilesPolicy policy;
  policy.judged.push_back({.name = "nodes", .delta = 0.05, .more_is_better = more_is_better});
  const FilesReport report = compare_files(file_of(base), file_of(head), policy);
  EXPECT_EQ(report.rows.at(0).verdict, Verdict::pass) << "its time is the same";
  EXPECT_EQ(report.overall, report.rows[0].judged.at(0).verdict);
  return report.rows[0].judged[0];
}

TEST(files_test, a_metric_that_is_asked_for_is_judged_beside_the_time) {
  const JudgedFilesVerdict more = judged_nodes(100, 120);
  EXPECT_EQ(more.verdict, Verdict::fail);
  EXPECT_NEAR(more.change, 0.2, 0.03);
  EXPECT_NEAR(more.base, 100, 3);
  EXPECT_NEAR(more.head, 120, 3);
  EXPECT_EQ(judged_nodes(100, 100).verdict, Verdict::pass);
  EXPECT_TRUE(judged_nodes(100, 80).improved);
  EXPECT_EQ(judged_nodes(100, 103).verdict, Verdict::pass) << "3 % do not matter where 5 do";
}

TEST(files_test, of_a_metric_of_which_more_is_better_less_fails) {
  const JudgedFilesVerdict less = judged_nodes(120, 100, true);
  EXPECT_EQ(less.verdict, Verdict::fail);
  EXPECT_NEAR(less.change, 0.2, 0.03) << "base over head, less 1";
  EXPECT_NEAR(less.base, 120, 3);
  EXPECT_NEAR(less.head, 100, 3);
  EXPECT_TRUE(judged_nodes(100, 120, true).improved);
}

TEST(files_test, what_is_0_has_no_ratio_and_passes_only_where_it_is_0_everywhere) {
  EXPECT_EQ(judged_nodes(0, 0).verdict, Verdict::pass);
  EXPECT_FALSE(judged_nodes(0, 0).has_ratio);
  const JudgedFilesVerdict grown = judged_nodes(0, 7);
  EXPECT_EQ(grown.verdict, Verdict::inconclusive);
  EXPECT_TRUE(contains(grown.reason, "has no ratio")) << grown.reason;
}

TEST(files_test, a_metric_that_is_0_in_one_of_many_files_has_no_change) {
  std::mt19937_64 random(13);
  auto base = reporting(random, processes(random, 7, {{"a", 100}}), 5);
  for (auto& repetition : base[3].cases[0].repetitions) repetition.counters["nodes"] = 0;
  const auto head = reporting(random, processes(random, 7, {{"a", 100}}), 10);
  FilesPolicy policy;
  policy.judged.push_back({.name = "nodes", .delta = 0.05});
  const FilesReport report = compare_files(base, head, policy);
  const JudgedFilesVerdict& nodes = report.rows[0].judged.at(0);
  EXPECT_EQ(nodes.verdict, Verdict::inconclusive);
  EXPECT_TRUE(contains(nodes.reason, "has no ratio")) << nodes.reason;
  EXPECT_TRUE(report.blind.empty()) << "more files would tell no more";
  EXPECT_TRUE(contains(json::to_json(report), "\"change\": null"));
}

TEST(files_test, a_metric_that_is_0_in_a_file_a_side_is_not_judged) {
  std::mt19937_64 random(14);
  const auto file_of = [&] { return reporting(random, processes(random, 1, {{"a", 100}}), 0); };
  FilesPolicy policy;
  policy.judged.push_back({.name = "nodes", .delta = 0.05});
  const FilesReport report = compare_files(file_of(), file_of(), policy);
  EXPECT_EQ(report.rows[0].judged.at(0).verdict, Verdict::inconclusive);
}

TEST(files_test, a_benchmark_that_does_not_report_a_metric_on_both_sides_is_named) {
  std::mt19937_64 random(15);
  auto base = reporting(random, processes(random, 8, {{"a", 100}, {"b", 100}}), 5);
  const auto head = reporting(random, processes(random, 8, {{"a", 100}, {"b", 100}}), 5);
  for (Result& file : base) {
    for (auto& repetition : file.cases[1].repetitions) repetition.counters.clear();
  }
  FilesPolicy policy;
  policy.judged.push_back({.name = "nodes", .delta = 0.05});
  const FilesReport report = compare_files(base, head, policy);
  EXPECT_EQ(report.rows[0].judged.size(), 1U);
  EXPECT_TRUE(report.rows[1].judged.empty());
  EXPECT_EQ(report.overall, Verdict::pass);
  EXPECT_TRUE(contains(render::as_markdown(report), "nodes is not judged, as not both sides"));
}

TEST(files_test, the_reason_of_an_undecided_metric_is_in_its_own_terms) {
  std::mt19937_64 random(16);
  const auto side = [&](double nodes) {
    auto files = processes(random, 8, {{"a", 100}});
    for (std::size_t i = 0; i < files.size(); ++i) {
      for (auto& repetition : files[i].cases[0].repetitions) {
        repetition.counters["hits/s"] = nodes * (i % 2 == 0 ? 1 : 1.4);
      }
    }
    return files;
  };
  FilesPolicy policy;
  policy.judged.push_back({.name = "hits/s", .delta = 0.2, .more_is_better = true});
  const FilesReport report = compare_files(side(100), side(100), policy);
  EXPECT_TRUE(contains(report.rows[0].judged.at(0).reason, "consistent with 20 % less hits/s, and"))
      << report.rows[0].judged[0].reason;
  const FilesReport better = compare_files(side(100), side(130), policy);
  EXPECT_FALSE(contains(render::as_markdown(better), "more hits/s, which may be chance"));
}

/// Adds instruction counts to the file.
Result counting(Result file, double instructions, double scatter = 0) {
  for (auto& benchmark : file.cases) {
    model::EventCount event;
    event.event = model::kInstructionsExact;
    for (int i = 0; i < 5; ++i) event.per_iteration.push_back(instructions * (1 + scatter * i));
    benchmark.events.push_back(std::move(event));
  }
  return file;
}

TEST(files_test, instructions_have_a_verdict_of_their_own_with_one_file_a_side) {
  std::mt19937_64 random(11);
  const auto file = process(random, {{"a", 100}});
  const auto compared = [&](double base, double head, double scatter = 0) {
    return compare_files({counting(file, base, scatter)}, {counting(file, head, scatter)}, {});
  };
  const FilesReport more = compared(1000, 1003);
  ASSERT_TRUE(more.rows[0].instructions);
  EXPECT_TRUE(more.rows[0].instructions->exact->repeats);
  EXPECT_NEAR(more.rows[0].instructions->exact->change, 0.003, 1e-12);
  EXPECT_EQ(more.rows[0].instructions->verdict, Verdict::fail);
  EXPECT_EQ(more.rows[0].verdict, Verdict::inconclusive) << "of the times: one process a side";
  EXPECT_EQ(more.overall, Verdict::fail);
  EXPECT_EQ(compared(1000, 1001).rows[0].instructions->verdict, Verdict::pass);
  EXPECT_EQ(compared(1000, 1001).overall, Verdict::inconclusive) << "the times stay open";
  EXPECT_EQ(compared(1000, 990).rows[0].instructions->verdict, Verdict::pass);
  EXPECT_EQ(compared(1000, 1003, 0.001).rows[0].instructions->verdict, Verdict::pass)
      << "less than the counts of one side differ by";
  for (const std::string& text :
       {render::table(more, {}), render::markdown(render::comment(more))}) {
    EXPECT_TRUE(contains(text, "its instructions"));
    EXPECT_TRUE(contains(text, "+0.30 %"));
  }
  EXPECT_TRUE(contains(render::as_csv(more), ",1000,1003,"));
  EXPECT_TRUE(contains(json::to_json(more), "\"threshold\": 0.002"));
}

TEST(files_test, instructions_of_another_machine_or_of_one_side_have_no_verdict) {
  std::mt19937_64 random(12);
  const auto file = process(random, {{"a", 100}});
  Result other = counting(file, 2000);
  other.environment.host_name = "another";
  const auto report = compare_files({counting(file, 1000)}, {other}, {});
  EXPECT_EQ(report.rows[0].instructions->verdict, Verdict::inconclusive);
  EXPECT_EQ(report.overall, Verdict::inconclusive);
  EXPECT_FALSE(compare_files({file}, {file}, {}).rows[0].instructions);
}

TEST(files_test, instructions_that_were_counted_with_different_seeds_are_inconclusive) {
  std::mt19937_64 random(17);
  const auto seeded = [&](std::optional<std::uint64_t> seed, double count) {
    Result file = counting(process(random, {{"a", 100}}), count);
    file.settings.seed = seed;
    return file;
  };
  const auto instructions = [](const FilesReport& report) { return *report.rows[0].instructions; };
  const auto report = compare_files({seeded(0, 1000)}, {seeded(7, 1003)}, {});
  EXPECT_EQ(instructions(report).verdict, Verdict::inconclusive);
  EXPECT_EQ(instructions(report).reason,
            "for one seed: base was counted with --seed 0, head with --seed 7; count both with the "
            "same --seed");
  EXPECT_EQ(report.overall, Verdict::inconclusive);
  EXPECT_TRUE(contains(render::table(report, {false, 300}),
                       "a: no instruction counts for one seed: base was counted with"));
  // Equal counts are no PASS either: the seed may hide a change as well as cause one.
  EXPECT_EQ(instructions(compare_files({seeded(0, 1000)}, {seeded(7, 1000)}, {})).verdict,
            Verdict::inconclusive);
  EXPECT_EQ(instructions(compare_files({seeded(7, 1000)}, {seeded(7, 1003)}, {})).verdict,
            Verdict::fail);
  EXPECT_EQ(instructions(compare_files({seeded({}, 1000)}, {seeded(7, 1003)}, {})).verdict,
            Verdict::fail)
      << "a file that tells no seed is taken for one of the same";
  EXPECT_EQ(instructions(compare_files({seeded(0, 1000), seeded(7, 1003)},
                                       {seeded(0, 1000), seeded(0, 1000)}, {}))
                .reason,
            "for one seed: base was counted with --seed 0 and 7, head with --seed 0; count both "
            "with the same --seed");
}

TEST(files_test, the_seed_of_a_file_without_counts_does_not_matter) {
  std::mt19937_64 random(18);
  Result base = counting(process(random, {{"a", 100}}), 1000);
  Result head = base;
  Result without = process(random, {{"a", 100}});
  base.settings.seed = head.settings.seed = 1;
  without.settings.seed = 7;
  EXPECT_EQ(compare_files({base, without}, {head}, {}).rows[0].instructions->verdict,
            Verdict::pass);
}

TEST(files_test, instructions_that_one_side_could_not_count_are_inconclusive_with_the_reason) {
  std::mt19937_64 random(13);
  const auto base = processes(random, 8, {{"a", 100}});
  auto head = processes(random, 8, {{"a", 100}});
  auto counted = base;
  for (auto& file : counted) file = counting(file, 1000);
  ASSERT_EQ(compare_files(base, head, {}).overall, Verdict::pass);

  auto report = compare_files(counted, head, {});
  ASSERT_TRUE(report.rows[0].instructions);
  EXPECT_EQ(report.rows[0].instructions->reason, "of head: not asked for");
  EXPECT_EQ(report.overall, Verdict::inconclusive);
  for (auto& file : head) {
    file.cases[0].events.push_back(
        {model::kInstructionsExact, "", {}, {}, false, "valgrind is not installed"});
  }
  report = compare_files(counted, head, {});
  EXPECT_EQ(report.rows[0].instructions->reason, "of head: valgrind is not installed");
  EXPECT_EQ(report.overall, Verdict::inconclusive);
  EXPECT_EQ(compare_files(head, counted, {}).rows[0].instructions->reason,
            "of base: valgrind is not installed");
  for (const std::string& text :
       {render::table(report, {false, 200}), render::markdown(render::comment(report))}) {
    EXPECT_TRUE(contains(text, "a: no instruction counts of head: valgrind is not installed."));
  }
  EXPECT_TRUE(contains(render::as_csv(report), ",,,,INCONCLUSIVE\n"));
  EXPECT_TRUE(contains(json::to_json(report), "valgrind is not installed"));
}

TEST(files_test, a_row_that_fails_by_its_instructions_alone_has_its_counters_told) {
  std::mt19937_64 random(14);
  const auto counters = [&](double instructions, double polls) {
    std::vector<Result> files;
    for (int i = 0; i < 8; ++i) {
      files.push_back(counting(process(random, {{"a", 100}}), instructions));
      for (auto& each : files.back().cases[0].repetitions) each.counters["polls"] = polls;
    }
    return files;
  };
  const auto report = compare_files(counters(1000, 50), counters(1010, 70), {});
  EXPECT_EQ(report.rows[0].verdict, Verdict::pass);
  EXPECT_EQ(report.overall, Verdict::fail);
  const std::string text = render::table(report, {false, 200});
  EXPECT_TRUE(contains(text, "its time passes, "));
  EXPECT_TRUE(contains(text, "polls 50"));
}

TEST(files_test, an_event_without_the_kernel_is_not_compared_with_one_that_has_it) {
  std::mt19937_64 random(15);
  const auto with_event = [&](double count, bool user_only) {
    Result file = process(random, {{"a", 100}});
    file.cases[0].events.push_back(
        {"instructions", "", {count, count + 1, count + 2}, 1, user_only, ""});
    return std::vector<Result>{file};
  };
  const auto moved = [&](bool of_base, bool of_head) {
    return compare_files(with_event(5000, of_base), with_event(9000, of_head), {}).rows[0].counters;
  };
  EXPECT_TRUE(moved(true, false).empty());
  EXPECT_TRUE(moved(false, true).empty());
  ASSERT_EQ(moved(true, true).size(), 1U);
  EXPECT_EQ(moved(true, true)[0].name, "instructions, user only");
  EXPECT_EQ(moved(false, false)[0].name, "instructions");
}

TEST(files_test, a_speedup_is_an_improvement) {
  std::mt19937_64 random(3);
  const auto report =
      compare_files(processes(random, 8, {{"a", 100}}), processes(random, 8, {{"a", 80}}), {});
  EXPECT_EQ(report.rows[0].verdict, Verdict::pass);
  EXPECT_TRUE(report.rows[0].improved);
}

TEST(files_test, identical_programs_rarely_fail_however_well_repetitions_agree) {
  int failed = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    std::mt19937_64 random(100 + seed);
    const std::map<std::string, double> medians{{"a", 1}, {"b", 20}, {"c", 3e6}};
    const auto report =
        compare_files(processes(random, 8, medians, 0.08), processes(random, 8, medians, 0.08), {});
    if (report.overall == Verdict::fail) ++failed;
  }
  EXPECT_LE(failed, 5);  // alpha is 1 %: more than 5 of 100 has a chance below 0.1 %
}

/// Files of one time each, which was printed in whole nanoseconds.
std::vector<Result> printed_files(double ns) {
  std::vector<Result> files(5);
  for (Result& file : files) {
    model::Case& benchmark = file.cases.emplace_back();
    benchmark.name = "a";
    benchmark.step_ns = 1;
    benchmark.repetitions.push_back({0, 10, ns, ns, {}});
  }
  return files;
}

TEST(files_test, a_step_of_the_last_printed_digit_is_no_slowdown_and_its_size_is_the_noise_floor) {
  const FilesReport step = compare_files(printed_files(20), printed_files(21), {});
  EXPECT_EQ(step.overall, Verdict::pass);
  EXPECT_DOUBLE_EQ(step.rows[0].delta, 1 / 19.5);
  const std::string text = render::as_markdown(step);
  EXPECT_TRUE(contains(text, "PASS: a is not slower by 3.0 % to 5.1 % or more")) << text;
  EXPECT_TRUE(contains(text, "the program prints times in steps of 1 ns")) << text;
  EXPECT_EQ(compare_files(printed_files(20), printed_files(23), {}).overall, Verdict::fail);
  const FilesReport fine = compare_files(printed_files(2000), printed_files(2100), {});
  EXPECT_EQ(fine.overall, Verdict::fail);
  EXPECT_DOUBLE_EQ(fine.rows[0].delta, 0.03);
}

TEST(files_test, too_few_files_are_told_how_many_it_takes) {
  std::mt19937_64 random(4);
  const auto report =
      compare_files(processes(random, 2, {{"a", 100}}), processes(random, 2, {{"a", 120}}), {});
  EXPECT_TRUE(contains(report.rows[0].reason, "too few files: 2 and 2; about 5 a side"));
  const auto four =
      compare_files(processes(random, 4, {{"a", 100}}), processes(random, 4, {{"a", 150}}), {});
  EXPECT_EQ(four.rows[0].verdict, Verdict::inconclusive);
  EXPECT_EQ(four.rows[0].reason, "too few files: 4 and 4; about 5 a side are needed")
      << "C(8, 4) = 70: no p is below 1 %";
  EXPECT_EQ(files_needed(0.01), 5U);  // C(10, 5) = 252
  EXPECT_EQ(files_needed(0.05), 4U);  // C(8, 4) = 70, C(6, 3) = 20
}

TEST(files_test, several_benchmarks_take_more_files_and_it_is_told) {
  std::mt19937_64 random(16);
  const std::map<std::string, double> before{{"a", 100}, {"b", 100}, {"c", 100}};
  const auto slower = [&](std::size_t count) {
    return compare_files(processes(random, count, before),
                         processes(random, count, {{"a", 150}, {"b", 100}, {"c", 100}}), {});
  };
  const auto five = slower(5);  // 3 / C(10, 5) is above 1 %
  EXPECT_EQ(five.rows[0].verdict, Verdict::inconclusive);
  EXPECT_EQ(five.rows[0].reason,
            "too few files: 5 and 5; about 6 a side are needed for 3 benchmarks");
  EXPECT_EQ(slower(6).rows[0].verdict, Verdict::fail);
}

TEST(files_test, aggregates_alone_carry_no_verdict) {
  std::mt19937_64 random(5);
  auto base = processes(random, 5, {{"a", 100}});
  auto head = base;
  for (auto& file : head) {
    file.cases[0].repetitions.clear();
    file.cases[0].has_aggregates = true;
  }
  const auto report = compare_files(base, head, {});
  EXPECT_EQ(report.rows[0].reason, "no times of head: it failed there, or reports only aggregates");
}

TEST(files_test, what_one_side_has_not_measured_has_no_figures_in_any_format) {
  std::mt19937_64 random(9);
  const auto base = processes(random, 5, {{"a", 100}, {"b", 100}});
  auto head = processes(random, 5, {{"a", 100}, {"b", 100}});
  for (auto& file : head) {
    file.cases[0].error = "no disk";
    file.cases[0].repetitions.clear();
  }
  const auto report = compare_files(base, head, {});
  EXPECT_FALSE(report.rows[0].has_change());
  EXPECT_NEAR(report.rows[0].base, 100, 10);
  const std::string as_csv = render::as_csv(report);
  EXPECT_TRUE(contains(as_csv, "\na,wall_time_ns,INCONCLUSIVE,false,5,0,")) << as_csv;
  EXPECT_TRUE(contains(as_csv, ",,,,,,,\"no times of head: it failed there, or ")) << as_csv;
  const auto measures = render::measures(report);
  const std::string open_metrics = render::open_metrics(measures);
  EXPECT_FALSE(contains(open_metrics, "benchmark=\"a\"")) << open_metrics;
  EXPECT_TRUE(contains(open_metrics, "benchmark=\"b\"")) << open_metrics;
  EXPECT_FALSE(contains(render::bencher_metrics(measures), "\"a\""));
  const std::string as_json = json::to_json(report);
  EXPECT_TRUE(contains(as_json, "\"head_ns\": null")) << as_json;
  EXPECT_TRUE(contains(as_json, "\"change\": null")) << as_json;
  EXPECT_FALSE(contains(as_json, "\"base_ns\": null")) << as_json;
}

TEST(files_test, different_machines_carry_no_verdict_and_the_difference_is_named) {
  std::mt19937_64 random(6);
  auto base = processes(random, 6, {{"a", 100}});
  auto head = processes(random, 6, {{"a", 200}});
  head[3].environment.cpu_count = 4;
  const auto report = compare_files(base, head, {});
  ASSERT_EQ(report.machine_differs.size(), 1U);
  EXPECT_EQ(report.machine_differs[0], "num_cpus: '2' and '4'");
  EXPECT_EQ(report.rows[0].verdict, Verdict::inconclusive);
  // Files may differ in what the first file does not say.
  head[3].environment.cpu_count = 2;
  base[1].environment.kernel = "Linux 6.1";
  head[2].environment.kernel = "Linux 6.2";
  EXPECT_EQ(compare_files(base, head, {}).machine_differs,
            std::vector<std::string>{"kernel: 'Linux 6.1' and 'Linux 6.2'"});
  head[2].environment.kernel = "Linux 6.1";
  // A measured clock rate differs each time, and does not identify a machine.
  head[3].environment.cpu_count = 2;
  head[3].environment.cpu_mhz = 1234;
  EXPECT_TRUE(compare_files(base, head, {}).machine_differs.empty());
}

TEST(files_test, what_has_no_partner_or_failed_is_told) {
  std::mt19937_64 random(7);
  auto base = processes(random, 1, {{"a", 1}, {"old", 1}});
  auto head = processes(random, 1, {{"a", 1}, {"new", 1}});
  head[0].cases[0].error = "no disk";
  head[0].cases[0].repetitions.clear();
  const auto report = compare_files(base, head, {});
  EXPECT_EQ(report.only_base, std::vector<std::string>{"old"});
  EXPECT_EQ(report.only_head, std::vector<std::string>{"new"});
  EXPECT_EQ(report.failed, std::vector<std::string>{"a of head: no disk"});
}

TEST(files_test, every_format_tells_the_same) {
  std::mt19937_64 random(8);
  const auto report = compare_files(processes(random, 8, {{"x|\"y\",z", 100}}),
                                    processes(random, 8, {{"x|\"y\",z", 120}}), {});
  EXPECT_TRUE(contains(render::table(report, {}), "FAIL"));
  EXPECT_TRUE(contains(render::markdown(render::comment(report)), "| x\\|\"y\",z |"));
  EXPECT_TRUE(contains(render::as_csv(report), "\n\"x|\"\"y\"\",z\",wall_time_ns,FAIL,false,8,8,"));
  EXPECT_TRUE(contains(json::to_json(report), "\"verdict\": \"FAIL\""));
}

double cpu_s_of_comparing(std::size_t benchmarks) {
  std::mt19937_64 random(7);
  std::map<std::string, double> medians;
  for (std::size_t i = 0; i < benchmarks; ++i) medians[std::to_string(i)] = 100;
  const std::vector<Result> base{process(random, medians, 0.01, 1)};
  medians.erase("0");
  medians["only head"] = 1;
  const std::vector<Result> head{process(random, medians, 0.01, 1)};
  const std::clock_t begun = std::clock();
  const std::string text = render::table(compare_files(base, head, {}), {});
  EXPECT_GT(text.size(), benchmarks);
  return static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
}

TEST(files_test, four_times_as_many_benchmarks_take_about_four_times_as_long) {
  const double once = cpu_s_of_comparing(2'500);
  EXPECT_LT(cpu_s_of_comparing(10'000), 8 * once);  // 16 times, if each were sought in all others
}

TEST(files_test, each_row_is_announced_and_can_end_the_comparison) {
  std::mt19937_64 random(8);
  const auto base = processes(random, 1, {{"a", 1}, {"b", 1}});
  std::vector<std::size_t> announced;
  (void)compare_files(base, base, {}, [&](std::size_t done, std::size_t of) {
    EXPECT_EQ(of, 2U);
    announced.push_back(done);
  });
  EXPECT_EQ(announced, (std::vector<std::size_t>{0, 1}));
  EXPECT_THROW((void)compare_files(base, base, {}, [](std::size_t, std::size_t) { throw 1; }), int);
}

}  // namespace
}  // namespace taskbench::reports::verdict
