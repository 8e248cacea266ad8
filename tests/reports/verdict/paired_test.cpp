// Verdicts of paired trials, made up with a known truth.
#include "reports/verdict/paired.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reports/json/paired.hpp"
#include "reports/render/effort.hpp"
#include "reports/render/paired.hpp"
#include "reports/stats/power.hpp"
#include "reports/stats/sequential.hpp"
#include "reports/stats/walsh.hpp"
#include "tests/reports/printed.hpp"
#include "tests/reports/text.hpp"
#include "tests/reports/verdict/made_up_trial.hpp"

namespace taskbench::reports::verdict {
namespace {

using model::Side;
using model::TrialEnd;

TEST(paired_test, a_clear_slowdown_fails_and_its_neighbour_passes) {
  const PairedReport report = judge(made_up_trial({{"slow", 0.10}, {"same", 0}}, 16, 1));
  ASSERT_EQ(report.benchmarks.size(), 2U);
  EXPECT_EQ(report.benchmarks[0].verdict, Verdict::fail);
  EXPECT_NEAR(report.benchmarks[0].change, 0.10, 0.02);
  EXPECT_LT(*report.benchmarks[0].low, 0.10);
  EXPECT_GT(*report.benchmarks[0].high, 0.10);
  EXPECT_EQ(report.benchmarks[1].verdict, Verdict::pass);
  EXPECT_EQ(report.overall, Verdict::fail);
  EXPECT_TRUE(report.decided);
}

TEST(paired_test, a_clear_speedup_passes_as_improved) {
  const PairedReport report = judge(made_up_trial({{"fast", -0.10}}, 16, 2));
  EXPECT_EQ(report.benchmarks[0].verdict, Verdict::pass);
  EXPECT_EQ(report.overall, Verdict::pass);
  // At the first look it may have passed already, before it counted as an improvement.
  EXPECT_LT(report.benchmarks[0].change, -0.07);
}

TEST(paired_test, noise_that_hides_what_matters_is_inconclusive_and_says_so) {
  const PairedReport report = judge(made_up_trial({{"noisy", 0, 0.15}}, 12, 3, TrialEnd::budget));
  EXPECT_EQ(report.benchmarks[0].verdict, Verdict::inconclusive);
  EXPECT_GT(*report.benchmarks[0].detectable, 0.03);
  EXPECT_GT(report.benchmarks[0].blocks_needed.value(), 12U);
  EXPECT_FALSE(report.decided);
}

TEST(paired_test, a_small_slowdown_is_never_a_pass_that_claims_to_have_seen_less) {
  int passes = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto report = judge(made_up_trial({{"three", 0.031, 0.02}}, 16, seed, TrialEnd::budget));
    const auto& row = report.benchmarks[0];
    if (row.verdict == Verdict::pass && row.detectable && *row.detectable < 0.031) ++passes;
  }
  // The promise is 5 % a benchmark over all looks; 8 of 40 would have a chance below 0.2 % then.
  EXPECT_LE(passes, 7);
}

// The promise behind `detectable`, over all looks of a trial. TASKBENCH_POWER_TRIALS=N runs N
// trials of each number of blocks, and prints how many of them FAIL.
TEST(paired_test, a_change_as_great_as_detectable_fails_in_four_of_five_trials) {
  const char* const asked = std::getenv("TASKBENCH_POWER_TRIALS");
  const std::uint64_t trials = asked != nullptr ? std::strtoull(asked, nullptr, 10) : 150;
  constexpr double kNoise = 0.05;  // of a process, and so of a block's difference
  for (const auto& [blocks, most] : {std::pair{24, 256}, std::pair{32, 32}}) {
    const auto n = static_cast<std::size_t>(blocks);
    const double alpha = stats::last_look(n, {0.01, 0.05, static_cast<std::size_t>(most)}).alpha;
    const double change = stats::minimum_failing_effect(kNoise, n, 0.01, 0.03, {alpha});
    int failed = 0;
    for (std::uint64_t seed = 0; seed < trials; ++seed) {
      auto trial = made_up_trial({{"slow", change, kNoise}}, blocks, 77 + seed, TrialEnd::budget);
      trial.setup.max_blocks = most;
      failed += judge(trial).overall == Verdict::fail ? 1 : 0;
    }
    // Three standard errors of four fifths are 0.10; what an earlier look finds is added.
    const double share = failed / static_cast<double>(trials);
    EXPECT_GE(share, 0.70) << blocks;
    EXPECT_LE(share, 0.93) << blocks;
    if (asked != nullptr) fmt::print("{} of at most {} blocks: {:.1f} %\n", n, most, 100 * share);
  }
}

TEST(paired_test, a_program_is_told_by_its_command_or_by_its_commit_and_the_name_it_was_given) {
  const std::string commit = "a94a8fe5ccb19ba61c4c0873d391e987982fbbd3";
  EXPECT_EQ(render::program_text({"out/bench --fast", "", "", ""}), "out/bench --fast");
  EXPECT_EQ(render::program_text({"out/bench", "", "main", commit}), "a94a8fe5ccb1 (main)");
  EXPECT_EQ(render::program_text({"out/bench", "", "a94a8f", commit}), "a94a8fe5ccb1");
}

TEST(paired_test, what_no_look_can_fail_has_no_detectable_change) {
  model::PairedTrial trial = made_up_trial({{"slow", 0.5, 0.01}}, 24, 8, TrialEnd::budget);
  trial.setup.alpha = 1e-5;  // below what ten thousand flips can resolve
  EXPECT_FALSE(judge(trial).benchmarks[0].detectable);
  EXPECT_NE(judge(trial).benchmarks[0].verdict, Verdict::fail);
}

TEST(paired_test, advice_names_more_blocks_than_there_were_or_none) {
  int undecided = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto trial = made_up_trial({{"near", 0.028, 0.1}}, 32, seed, TrialEnd::budget);
    const PairedReport report = judge(trial);
    if (report.overall != Verdict::inconclusive) continue;
    ++undecided;
    const std::string text = render::table(trial, report, {});
    const auto at = text.find("about ");
    if (at == std::string::npos) {
      EXPECT_TRUE(contains(text, "not even a day would decide"));
    } else {
      EXPECT_GT(std::stoi(text.substr(at + 6)), 32) << text;
    }
  }
  EXPECT_GE(undecided, 10);
}

TEST(paired_test, nothing_fails_where_nothing_changed) {
  int failed = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const std::vector<Truth> truths{{"a", 0, 0.03}, {"b", 0, 0.01}, {"c", 0, 0.1}, {"d", 0, 0.002}};
    if (judge(made_up_trial(truths, 32, 1000 + seed)).overall == Verdict::fail) ++failed;
  }
  EXPECT_LE(failed, 4);  // at alpha 1 %, more than 4 of 60 has a chance below 0.1 %
}

// Twenty of forty benchmarks are 30 % slower, and the budget has room for only eleven blocks.
TEST(paired_test, few_blocks_find_what_is_slower_among_many_benchmarks) {
  std::vector<Truth> truths;
  for (int i = 0; i < 40; ++i) truths.push_back({std::to_string(i), i < 20 ? 0.3 : 0, 0.05});
  const PairedReport report = judge(made_up_trial(truths, 11, 4, TrialEnd::budget));
  EXPECT_EQ(report.overall, Verdict::fail);
  EXPECT_TRUE(report.could_fail);
  for (int i = 0; i < 40; ++i) {
    const auto& row = report.benchmarks[static_cast<std::size_t>(i)];
    EXPECT_EQ(row.verdict == Verdict::fail, i < 20) << i;
    EXPECT_LT(row.detectable.value(), 0.3) << i;
  }
}

TEST(paired_test, a_trial_too_short_to_fail_anything_says_so_and_what_would_do) {
  std::vector<Truth> truths{{"slow", 0.5, 0.01}, {"same", 0, 0.01}};
  for (const int blocks : {1, 4, 6, 7}) {
    model::PairedTrial trial = made_up_trial(truths, blocks, 5, TrialEnd::budget);
    for (auto& sample : trial.samples) sample.took_s = 2;
    const PairedReport report = judge(trial);
    EXPECT_EQ(report.could_fail, blocks >= 7) << blocks;
    EXPECT_EQ(report.overall, blocks >= 7 ? Verdict::fail : Verdict::inconclusive) << blocks;
    const std::string text =
        render::markdown(render::comment({.trial = trial, .report = report}, {}));
    const std::string says =
        " of 4 processes cannot FAIL anything, however much slower head is; that takes 7 or more "
        "(--budget 70s, or fewer benchmarks with --workload)";
    EXPECT_EQ(text.find(says) != std::string::npos, blocks < 7) << text;
    if (blocks < 2) continue;
    EXPECT_GE(report.benchmarks[0].blocks_needed.value(), 7U) << blocks;
    EXPECT_FALSE(contains(text, "not even a day"));
  }
}

TEST(paired_test, what_a_trial_can_reach_is_known_before_it_ends) {
  std::vector<Truth> truths;
  for (int i = 0; i < 40; ++i) truths.push_back({std::to_string(i)});
  model::PairedTrial trial = made_up_trial(truths, 1, 5);
  for (auto& sample : trial.samples) sample.took_s = 1.5;
  EXPECT_EQ(blocks_within(trial, 30), 5);
  EXPECT_EQ(blocks_within(trial, 1), 1);
  EXPECT_EQ(blocks_within(trial, 6000), 64) << "the most of the setup";
  EXPECT_FALSE(reach_of(trial, 6).can_fail());
  EXPECT_TRUE(reach_of(trial, 7).can_fail());
  EXPECT_FALSE(reach_of(trial, 12).is_steady());
  EXPECT_TRUE(reach_of(trial, 13).is_steady());
  const auto text = [&](int blocks) {
    return render::reach_text(reach_of(trial, blocks), trial.setup);
  };
  EXPECT_TRUE(contains(text(12), "in every block can FAIL; with 13 blocks"));
  EXPECT_TRUE(contains(text(5), "(--budget 55s, or fewer"));
  EXPECT_EQ(text(13), "");
  trial.setup.max_blocks = 5;
  EXPECT_TRUE(contains(text(5), "takes 7 or more (--max-blocks 7)"));
}

TEST(paired_test, both_levels_and_the_change_agree_and_no_pass_crosses_the_threshold) {
  int passes = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const std::vector<Truth> truths{{"a", 0, 0.05}, {"b", 0.01, 0.02}, {"c", -0.02, 0.04}};
    const auto end = seed % 2 == 0 ? TrialEnd::budget : TrialEnd::blocks;
    const PairedReport report =
        judge(made_up_trial(truths, 9 + static_cast<int>(seed % 24), seed, end));
    for (const auto& row : report.benchmarks) {
      EXPECT_NEAR(row.head / row.base, 1 + row.change, 1e-9);
      if (row.verdict != Verdict::pass || row.improved) continue;
      ++passes;
      EXPECT_LT(row.high.value(), row.delta) << seed << ' ' << row.name;
    }
  }
  EXPECT_GT(passes, 40);
}

TEST(paired_test, more_cpu_time_fails_beside_a_wall_time_that_passes) {
  const auto trial = made_up_trial({{"burns", 0, 0.005, 1, 0.3}, {"same", 0, 0.005, 1, 0}}, 16, 6);
  const PairedReport report = judge(trial);
  EXPECT_EQ(report.benchmarks[0].verdict, Verdict::pass);
  EXPECT_EQ(report.benchmarks[0].cpu->verdict, Verdict::fail);
  EXPECT_NEAR(report.benchmarks[0].cpu->change, 0.3, 0.02);
  EXPECT_EQ(report.benchmarks[1].cpu->verdict, Verdict::pass);
  EXPECT_EQ(report.overall, Verdict::fail);
  const std::string text = render::table(trial, report, {});
  EXPECT_TRUE(contains(text, "FAIL: burns takes "));
  EXPECT_TRUE(contains(text, " more CPU time (90 % interval "));
  EXPECT_EQ(text.find("its CPU time"), text.rfind("  its CPU time") + 2)
      << "a plain PASS needs no row: " << text;
}

TEST(paired_test, cpu_time_that_seems_more_keeps_a_trial_from_passing_until_it_is_known) {
  const std::vector<Truth> truths{{"burns", 0, 0.002, 1, 0.08, 0.2}};
  PairedReport report = judge(made_up_trial(truths, 8, 6));
  EXPECT_EQ(report.benchmarks[0].verdict, Verdict::pass);
  EXPECT_EQ(report.overall, Verdict::inconclusive) << "more by 8 %, which may be chance";
  EXPECT_FALSE(report.decided);
  report = judge(made_up_trial({{"noisy", 0, 0.002, 1, -0.02, 0.1}}, 8, 6));
  EXPECT_EQ(report.benchmarks[0].cpu->verdict, Verdict::inconclusive);
  EXPECT_EQ(report.overall, Verdict::pass);
  EXPECT_TRUE(report.decided);
}

TEST(paired_test, cpu_time_of_a_program_that_sleeps_matters_by_its_wall_time) {
  auto trial = made_up_trial({{"sleeps", 0, 0.002, 0.05, 0.3}}, 16, 6);
  const PairedReport report = judge(trial);
  EXPECT_NEAR(report.benchmarks[0].cpu->delta, 0.03 / 0.05, 0.15);
  EXPECT_EQ(report.benchmarks[0].cpu->verdict, Verdict::pass);
  EXPECT_EQ(report.overall, Verdict::pass);
  trial.samples[2 * model::kBlockSize].counters["sleeps"].erase("queued_ns");
  EXPECT_EQ(judge(trial).benchmarks[0].cpu->delta, 0.03) << "in doubt, as in an older journal";
  EXPECT_EQ(judge(trial).overall, Verdict::fail);
}

// A machine that others use: the wall time is mostly waiting for a CPU, and scatters.
TEST(paired_test, more_cpu_time_of_a_program_that_waits_for_a_cpu_fails) {
  for (const double sleeps : {0.0, 0.1}) {
    const Truth truth{"computes", 0.1, 0.15, 0.15, 0.104, 0.005, 0.85 - sleeps};
    auto trial = made_up_trial({truth}, 24, 6, TrialEnd::budget);
    const PairedReport report = judge(trial);
    const MetricVerdict& cpu = *report.benchmarks[0].cpu;
    EXPECT_NEAR(cpu.delta, 0.03 * (1 + sleeps / 0.15), 0.02) << sleeps;
    EXPECT_EQ(cpu.verdict, Verdict::fail) << sleeps;
    EXPECT_EQ(report.overall, Verdict::fail) << sleeps;
    const auto written = json::to_json({.trial = trial, .report = report});
    EXPECT_TRUE(contains(written, fmt::format("\"delta\": {}", cpu.delta))) << written;
    EXPECT_TRUE(contains(render::table(trial, report, {}), render::percent(cpu.delta)));
  }
}

TEST(paired_test, what_could_not_have_seen_five_times_delta_is_blind) {
  const std::vector<Truth> truths{{"calm", 0.02, 0.03}, {"storm", 0, 0.3}, {"same", 0, 0.001}};
  auto trial = made_up_trial(truths, 16, 3, TrialEnd::budget);
  const PairedReport report = judge(trial);
  EXPECT_EQ(report.blind, std::vector<std::string>{"storm"});
  EXPECT_GT(report.benchmarks[1].detectable.value(), 0.15);
  EXPECT_EQ(report.benchmarks[0].verdict, Verdict::inconclusive);
  EXPECT_LT(report.benchmarks[0].detectable.value(), 0.15);
  trial.setup.delta = 0.2;
  EXPECT_TRUE(judge(trial).blind.empty());
  const auto of_cpu = made_up_trial({{"a", 0, 0.002, 1, 0.3, 0.5}}, 12, 7, TrialEnd::budget);
  ASSERT_TRUE(holds_back(*judge(of_cpu).benchmarks[0].cpu));
  EXPECT_EQ(judge(of_cpu).blind, std::vector<std::string>{"a"});
}

TEST(paired_test, a_slower_program_that_computes_is_told_from_one_that_waits) {
  const auto text_of = [](double cpu_change, model::CpuTimeOf whose) {
    auto trial = made_up_trial({{"slow", 0.2, 0.01, 1, cpu_change}}, 16, 6);
    trial.setup.cpu_time_of["slow"] = whose;
    return render::markdown(render::comment({.trial = trial, .report = judge(trial)}, {}));
  };
  const std::string computes = text_of(0.2, model::CpuTimeOf::process);
  EXPECT_TRUE(contains(computes, ": it computes more, its CPU time +"));
  const std::string waits = text_of(0, model::CpuTimeOf::main_thread);
  EXPECT_TRUE(contains(waits, ": it waits longer, its CPU time "));
  EXPECT_TRUE(contains(waits, "unless MeasureProcessCPUTime() is called"));
  const std::string both = text_of(0.06, model::CpuTimeOf::process);
  EXPECT_TRUE(contains(both, "s: its CPU time +"));
}

TEST(paired_test, a_cpu_time_that_no_setup_names_or_that_is_0_is_not_judged) {
  model::PairedTrial trial = made_up_trial({{"a", 0, 0.002, 1, 0.3}, {"b", 0, 0.002, 1, 0}}, 16, 6);
  trial.samples[9].counters["a"]["cpu_ns"] = 0;
  EXPECT_FALSE(judge(trial).benchmarks[0].cpu);
  EXPECT_TRUE(judge(trial).benchmarks[1].cpu);
  trial.setup.cpu_time_of.clear();
  EXPECT_FALSE(judge(trial).benchmarks[1].cpu);
}

TEST(paired_test, a_cpu_time_of_0_does_not_take_back_what_has_failed) {
  auto trial = made_up_trial({{"a", 0, 0.01, 0.5, 0.3}}, 16, 6);
  ASSERT_EQ(judge(trial).overall, Verdict::fail);
  trial.samples.back().counters["a"]["cpu_ns"] = 0;
  const PairedReport report = judge(trial);
  EXPECT_EQ(report.overall, Verdict::inconclusive);
  ASSERT_TRUE(report.benchmarks[0].cpu);
  EXPECT_EQ(report.benchmarks[0].cpu->decided->verdict, Verdict::fail);
}

// The CPU times give as many false alarms as promised, and no more of the wall times.
TEST(paired_test, cpu_times_fail_as_rarely_as_promised_where_nothing_changed) {
  int failed = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const std::vector<Truth> truths{
        {"a", 0, 0.03, 1, 0, 0.02}, {"b", 0, 0.01, 2, 0, 0.05}, {"c", 0, 0.02, 1, 0.01, 0.03}};
    const auto trial = made_up_trial(truths, 32, 2000 + seed, TrialEnd::budget);
    if (judge(trial).overall == Verdict::fail) ++failed;
  }
  EXPECT_LE(failed, 5);  // at 2 %, more than 5 of 60 has a chance below 0.3 %
}

// Two layouts say little about all others: they leave most of what head has gained open.
TEST(paired_test, blocks_that_a_great_improvement_needs_are_known_also_if_layouts_differ) {
  auto trial = made_up_trial({{"a", -0.39, 0.01}}, 16, 6, TrialEnd::budget);
  for (model::ProcessSample& sample : trial.samples) {
    sample.layout = sample.block % 2;
    if (sample.side == Side::head) sample.real_ns["a"] *= sample.layout == 0 ? 0.96 : 1.04;
  }
  const PairedReport report = judge(trial);
  const BenchmarkVerdict& row = report.benchmarks.at(0);
  EXPECT_GT(row.layout_error, 0.2);
  EXPECT_EQ(row.verdict, Verdict::pass);
  EXPECT_TRUE(row.improved);
  EXPECT_TRUE(row.blocks_needed);
}

TEST(paired_test, two_or_three_layouts_that_lie_far_apart_leave_as_much_open) {
  for (const std::size_t count : {2U, 3U}) {
    std::vector<double> differences;
    std::vector<std::size_t> layouts;
    for (std::size_t i = 0; i < 8 * count; ++i) {
      layouts.push_back(i % count);
      const double noise = 0.0002 * (static_cast<double>(7 * (i / count) % 5) - 2);
      differences.push_back(0.07 * static_cast<double>(layouts.back()) + noise);
    }
    EXPECT_GT(layout_error(differences, layouts, 0.05), 0.07) << count;
  }
}

TEST(paired_test, layouts_widen_an_interval_to_both_sides_also_if_blocks_leave_nothing_open) {
  MetricSeries series;
  series.differences.assign(16, 0.0);
  series.base.assign(32, 100.0);
  series.head = series.base;
  series.epsilon = 0.01;
  series.delta = 0.03;
  series.layout_error = std::log1p(0.01);
  const auto rows = judge_metric({series}, {}, {}, 1, {16, 0.01, 0.05});
  EXPECT_NEAR(rows.at(0).low.value(), 1 / 1.01 - 1, 1e-9);
  EXPECT_NEAR(rows.at(0).high.value(), 0.01, 1e-9);
}

TEST(paired_test, a_busy_machine_is_named_where_nothing_is_decided) {
  model::PairedTrial trial = made_up_trial({{"noisy", 0, 0.2}}, 8, 3, TrialEnd::budget);
  EXPECT_FALSE(judge(trial).machine.others_share);
  for (auto& sample : trial.samples) {
    sample.machine = {.seconds = 0.1,
                      .cpu = model::Fact<model::CpuUse>::known({0, 0.2, 0.06, 0.01}),
                      .thermal_throttles = {},
                      .quota_throttles = 1,
                      .swapped_pages = 0};
  }
  trial.samples[3].machine->cpu.value->others_s = -0.01;  // the ticks of the kernel are coarse
  const PairedReport report = judge(trial);
  EXPECT_NEAR(*report.machine.others_share, 0.3, 0.02);
  EXPECT_EQ(*report.machine.quota_throttles, 32);
  const std::string text =
      render::markdown(render::comment({.trial = trial, .report = report}, {}));
  EXPECT_TRUE(
      contains(text, "- The machine was disturbed while it measured: the hypervisor stole 5.0 %"));
  EXPECT_TRUE(contains(text, "compare again when less is running"));
  EXPECT_TRUE(contains(text, "Others used 28.9 % of the CPUs meanwhile, the hypervisor 5.0 %."));
}

TEST(paired_test, a_name_cannot_steer_who_reads_the_comment) {
  auto trial = made_up_trial({{"red\x1b[31m\nnext| line", 0.1}}, 16, 1, TrialEnd::decided);
  const std::string comment =
      render::markdown(render::comment({.trial = trial, .report = judge(trial)}, {}));
  EXPECT_FALSE(contains(comment, "\x1b"));
  EXPECT_FALSE(contains(comment, "\nnext"));
  EXPECT_FALSE(contains(render::table(trial, judge(trial), {}), "\nnext"));
}

TEST(paired_test, figures_have_no_negative_zero_and_nouns_their_number) {
  EXPECT_EQ(render::percent_change(-0.0004), "+0.0 %");
  EXPECT_EQ(render::percent_change(-0.0006), "-0.1 %");
  EXPECT_EQ(render::percent(-1e-9), "0.0 %");
  EXPECT_EQ(render::counted(1, "block"), "1 block");
  EXPECT_EQ(render::counted(4, "process"), "4 processes");
  EXPECT_EQ(render::interval_title(0.9), "90 % interval");
}

/// The trial with five equal counts of each benchmark on each side.
model::PairedTrial counting(model::PairedTrial trial, double base, double head) {
  trial.setup.counts_instructions = true;
  for (const std::string& name : trial.setup.benchmarks) {
    trial.instructions.push_back({Side::base, name, std::vector<double>(5, base), ""});
    trial.instructions.push_back({Side::head, name, std::vector<double>(5, head), ""});
  }
  return trial;
}

TEST(paired_test, more_instructions_fail_beside_a_time_that_passes) {
  const auto judged = [](double head) {
    return judge(counting(made_up_trial({{"same", 0, 0.001}}, 16, 5), 1000, head));
  };
  for (const double head : {1000.0, 1001.9, 900.0}) {
    EXPECT_EQ(judged(head).overall, Verdict::pass) << head;
    EXPECT_EQ(judged(head).benchmarks[0].instructions->verdict, Verdict::pass) << head;
  }
  const PairedReport report = judged(1002.1);
  EXPECT_EQ(report.benchmarks[0].verdict, Verdict::pass);
  EXPECT_EQ(report.benchmarks[0].instructions->verdict, Verdict::fail);
  EXPECT_EQ(report.overall, Verdict::fail);
  EXPECT_TRUE(report.decided);
}

TEST(paired_test, instructions_that_are_missing_are_inconclusive_but_decide_no_time) {
  model::PairedTrial trial = counting(made_up_trial({{"same", 0, 0.001}}, 16, 5), 1000, 1000);
  trial.instructions[1] = {Side::head, "same", {}, "no valgrind"};
  PairedReport report = judge(trial);
  EXPECT_EQ(report.benchmarks[0].instructions->reason, "of head: no valgrind");
  EXPECT_EQ(report.overall, Verdict::inconclusive);
  EXPECT_TRUE(report.decided) << "no block more would count them";
  trial.instructions.pop_back();
  report = judge(trial);
  EXPECT_EQ(report.benchmarks[0].instructions->reason, "not counted yet");
  trial.setup.counts_instructions = false;
  EXPECT_FALSE(judge(trial).benchmarks[0].instructions);
}

TEST(paired_test, drift_between_blocks_and_within_them_cancels) {
  const PairedReport report = judge(made_up_trial({{"a", 0, 0.0001}}, 8, 4));
  EXPECT_NEAR(report.benchmarks[0].change, 0, 0.001);
}

TEST(paired_test, before_the_first_look_nothing_is_judged_and_at_an_early_end_all_is) {
  EXPECT_TRUE(judge(made_up_trial({{"a"}}, 7, 5)).benchmarks.empty());
  EXPECT_FALSE(judge(made_up_trial({{"a"}}, 7, 5)).decided);
  for (const int blocks : {1, 2, 7}) {
    const PairedReport report = judge(made_up_trial({{"a", 0.5}}, blocks, 5, TrialEnd::budget));
    ASSERT_EQ(report.benchmarks.size(), 1U);
    EXPECT_EQ(report.benchmarks[0].blocks, blocks);
  }
  EXPECT_EQ(judge(made_up_trial({{"a"}}, 0, 5, TrialEnd::budget)).overall, Verdict::inconclusive);
}

TEST(paired_test, a_process_that_belongs_to_no_complete_block_does_not_count) {
  auto trial = made_up_trial({{"a", 0.1}, {"b"}}, 9, 6);
  const auto whole = judge(made_up_trial({{"a", 0.1}, {"b"}}, 8, 6));
  trial.samples.resize(8 * model::kBlockSize + 3);
  EXPECT_EQ(judge(trial).blocks, whole.blocks);
  EXPECT_EQ(judge(trial).benchmarks[0].p, whole.benchmarks[0].p);
}

TEST(paired_test, the_first_verdict_stands_and_the_figures_are_those_of_all_blocks) {
  const auto early = judge(made_up_trial({{"a", 0.2}}, 8, 7)).benchmarks[0];
  ASSERT_EQ(early.verdict, Verdict::fail);
  auto trial = made_up_trial({{"a", 0.2}}, 32, 7);
  const auto late = judge(trial).benchmarks[0];
  EXPECT_EQ(late.verdict, Verdict::fail);
  EXPECT_EQ(late.decided->blocks, 8);
  EXPECT_EQ(late.decided->change, early.change);
  EXPECT_EQ(late.blocks, 32);
  const std::vector<double> all = block_differences(trial, "a", 32);
  EXPECT_EQ(late.change, std::expm1(stats::hodges_lehmann(all)));
  const auto looks = stats::looks({0.01, 0.05, 64});
  const double error = std::ranges::find(looks, 32U, &stats::Look::blocks)->pass_error;
  EXPECT_EQ(late.high, std::expm1(stats::confidence_interval(all, 1 - 2 * error).high))
      << "by what the look may spend, so that the errors of all looks sum up";
}

/// Removes a benchmark from all blocks from `block` on.
void leave(const std::string& name, int block, model::PairedTrial& trial) {
  for (auto& sample : trial.samples) {
    if (sample.block < block) continue;
    sample.real_ns.erase(name);
    sample.counters.erase(name);
  }
}

TEST(paired_test, what_has_left_keeps_its_figures_and_the_report_says_of_how_many_blocks) {
  auto trial = made_up_trial({{"a", 0.2}, {"b", 0, 0.1}, {"c", 0, 0.1}}, 32, 7);
  const auto whole = judge(trial);
  leave("a", 10, trial);
  trial.end = TrialEnd::budget;
  const auto report = judge(trial);
  const auto then =
      judge(made_up_trial({{"a", 0.2}, {"b", 0, 0.1}, {"c", 0, 0.1}}, 10, 7)).benchmarks[0];
  EXPECT_EQ(report.benchmarks[0].verdict, Verdict::fail);
  EXPECT_EQ(report.benchmarks[0].blocks, 10);
  EXPECT_EQ(report.benchmarks[0].p_adjusted, then.p_adjusted);
  EXPECT_EQ(report.benchmarks[0].high, then.high);
  EXPECT_EQ(report.benchmarks[1].blocks, 32);
  EXPECT_EQ(report.benchmarks[1].change, whole.benchmarks[1].change);
  const std::string table = render::table(trial, report, {});
  EXPECT_TRUE(contains(table, " 10 of 32 "));
  EXPECT_TRUE(contains(table, "a benchmark that is decided skips"));
}

TEST(paired_test, what_there_was_no_time_for_is_told_and_passes_nothing) {
  const std::vector<Truth> truths{{"a"}, {"b", 0, 0.1}, {"c"}};
  auto trial = made_up_trial(truths, 16, 7);
  leave("b", 8, trial);
  leave("c", 0, trial);
  trial.end = TrialEnd::budget;
  const auto report = judge(trial);
  EXPECT_EQ(report.resting, std::vector<std::string>{"b"});
  EXPECT_EQ(report.unreached, std::vector<std::string>{"c"});
  EXPECT_EQ(report.benchmarks.size(), 2U);
  EXPECT_EQ(report.overall, Verdict::inconclusive);
  EXPECT_FALSE(report.decided);
  const std::string text =
      render::markdown(render::comment({.trial = trial, .report = report}, {}));
  EXPECT_TRUE(
      contains(text, "1 benchmark was not looked at closely, as there was no time for all"));
  EXPECT_TRUE(contains(text, "A slowdown of up to "));
  EXPECT_TRUE(contains(text, "1 benchmark was not judged at all, as there was no time: c."));
  const auto read =
      json::parse_paired_report("r.json", json::to_json({.trial = trial, .report = report}));
  EXPECT_EQ(read.report.resting, report.resting);
  EXPECT_EQ(read.report.unreached, report.unreached);
}

TEST(paired_test, what_passed_and_left_still_counts_among_those_that_may_be_slower) {
  auto trial = made_up_trial({{"a", 0.1, 0.1}, {"b"}, {"c"}, {"d"}}, 13, 7);
  const double together = judge(trial).benchmarks[0].p_adjusted;
  for (const char* name : {"b", "c", "d"}) leave(name, 10, trial);
  const MetricVerdict row = judge(trial).benchmarks[0];
  EXPECT_GT(row.p, 1.0 / (1 << 13)) << "ranks that are not the greatest";
  EXPECT_DOUBLE_EQ(row.p_adjusted, 4 * row.p) << "its own p, and that of each of the others";
  EXPECT_LE(row.p_adjusted, 2 * together);
}

TEST(paired_test, what_failed_and_left_does_not_count_among_those_that_may_be_slower) {
  auto trial = made_up_trial({{"a", 0, 0.1}, {"b", 0.3}, {"c", 0.3}}, 13, 7);
  for (const char* name : {"b", "c"}) leave(name, 10, trial);
  const MetricVerdict row = judge(trial).benchmarks[0];
  EXPECT_DOUBLE_EQ(row.p_adjusted, row.p);
}

/// Head takes `early` times as long in the first 8 of 12 blocks, and `late` times in the others.
model::PairedTrial trial_of_shift(double early, double late, std::uint64_t seed) {
  auto trial = made_up_trial({{"a", 0, 0.005}}, 12, seed);
  trial.setup.max_blocks = 12;
  trial.setup.alpha = 0.1;  // so that 8 blocks can fail
  for (auto& sample : trial.samples) {
    if (sample.side == Side::head) sample.real_ns["a"] *= sample.block < 8 ? early : late;
  }
  return trial;
}

MetricVerdict verdict_of_shift(double early, double late, std::uint64_t seed) {
  return judge(trial_of_shift(early, late, seed)).benchmarks[0];
}

TEST(paired_test, no_verdict_contradicts_the_figures_beside_it) {
  std::map<std::pair<Verdict, Verdict>, int> seen;  // what a look decided, and the final verdict
  for (const double early : {0.56, 0.9, 1.0, 1.02, 1.1, 1.3}) {
    for (const double late : {0.5, 0.9, 1.0, 1.06, 1.3}) {
      const MetricVerdict row = verdict_of_shift(early, late, 11);
      const std::string what = fmt::format("{} then {}: {:+.3f}", early, late, row.change);
      EXPECT_TRUE(row.verdict != Verdict::fail || row.change >= row.delta) << what;
      EXPECT_TRUE(row.verdict != Verdict::pass || row.high.value() < row.delta) << what;
      EXPECT_TRUE(!row.improved || row.change < -0.029) << what;
      if (!row.decided) continue;
      EXPECT_TRUE(row.verdict == Verdict::inconclusive || row.verdict == row.decided->verdict);
      ++seen[{row.decided->verdict, row.verdict}];
    }
  }
  for (const Verdict decided : {Verdict::pass, Verdict::fail}) {
    EXPECT_GT((seen[{decided, decided}]), 0) << word(decided);
    EXPECT_GT((seen[{decided, Verdict::inconclusive}]), 0) << word(decided);
  }
  const auto withdrawn = trial_of_shift(1.0, 1.3, 11);
  EXPECT_TRUE(contains(
      render::markdown(render::comment({.trial = withdrawn, .report = judge(withdrawn)}, {})),
      "- a was a PASS after the first 8 blocks, at "));
  EXPECT_FALSE(verdict_of_shift(0.56, 1.0, 11).decided->blocks == 12);
}

TEST(paired_test, the_counters_that_moved_are_named_and_those_that_jitter_are_not) {
  const auto row = judge(made_up_trial({{"a", 0.1}}, 16, 8)).benchmarks[0];
  ASSERT_EQ(row.counters.size(), 1U);
  EXPECT_EQ(row.counters[0].name, "steals");
  EXPECT_EQ(row.counters[0].base, 3);
  EXPECT_EQ(row.counters[0].head, 9);
}

TEST(paired_test, adjusted_p_is_never_below_the_raw_one) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (const auto& row :
         judge(made_up_trial({{"a", 0.02}, {"b"}, {"c", 0.05}}, 16, seed)).benchmarks) {
      EXPECT_GE(row.p_adjusted, row.p);
    }
  }
}

TEST(paired_test, the_same_trial_gives_the_same_bytes) {
  const auto trial = made_up_trial({{"a", 0.1}, {"b"}}, 33, 9, TrialEnd::budget);
  EXPECT_EQ(json::to_json({.trial = trial, .report = judge(trial)}),
            json::to_json({.trial = trial, .report = judge(trial)}));
  EXPECT_EQ(render::markdown(render::comment({.trial = trial, .report = judge(trial)}, {})),
            render::markdown(render::comment({.trial = trial, .report = judge(trial)}, {})));
}

TEST(paired_test, the_table_and_the_comment_say_the_verdict) {
  auto trial = made_up_trial({{"slow|er", 0.1}, {"same"}}, 16, 1, TrialEnd::decided);
  trial.setup.reproduce = "taskbench ab --base x";
  const auto report = judge(trial);
  const std::string table = render::table(trial, report, {});
  EXPECT_TRUE(contains(table, "\nFAIL: slow|er is "));
  const std::string comment =
      render::markdown(render::comment({.trial = trial, .report = report}, {}));
  EXPECT_TRUE(comment.starts_with("### taskbench: FAIL: slow\\|er is ")) << comment;
  EXPECT_TRUE(contains(comment, "| slow\\|er |"));
  EXPECT_TRUE(contains(comment, "steals 3.00 → 9.00"));
  EXPECT_TRUE(contains(comment, "taskbench ab --base x"));
  EXPECT_TRUE(contains(comment, "! threshold +3.0 %,"));
}

TEST(paired_test, the_comment_has_its_title_its_marker_and_both_commits) {
  auto trial = made_up_trial({{"same"}}, 16, 1, TrialEnd::decided);
  trial.setup.base.revision = "origin/*main*";
  trial.setup.base.commit = std::string(40, 'a');
  trial.setup.head.revision = std::string(12, 'b');
  trial.setup.head.commit = std::string(40, 'b');
  const std::string comment =
      render::markdown(render::comment({.trial = trial, .report = judge(trial)}, {"Speed", true}));
  EXPECT_TRUE(comment.starts_with("<!-- taskbench-gate -->\n### Speed: PASS")) << comment;
  EXPECT_TRUE(contains(
      comment, "Head bbbbbbbbbbbb against base aaaaaaaaaaaa (origin/\\*main\\*): 1 passes."));
}

TEST(paired_test, a_log_stays_in_its_block_whatever_it_says) {
  model::PairedFailure failure;
  failure.stage = model::PairedFailure::Stage::build;
  failure.side = Side::head;
  failure.message = "head <b> does not build";
  failure.lines = {"````", "\x1b[31m# heading"};
  const std::string comment = render::markdown(
      render::comment({.outcome = PairedFile::Outcome::failed, .failure = failure}, {}));
  EXPECT_TRUE(comment.starts_with("### taskbench: no verdict: head does not build")) << comment;
  EXPECT_FALSE(contains(comment, "<b>"));
  EXPECT_TRUE(contains(comment, "`````text\n````\n\uFFFD[31m# heading\n`````\n"));
}

}  // namespace
}  // namespace taskbench::reports::verdict
