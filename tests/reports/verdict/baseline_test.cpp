#include "reports/verdict/baseline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "tests/reports/stats/noise.hpp"

namespace taskbench::reports::verdict {
namespace {

using model::CanaryTimes;
using model::Series;
using model::SeriesProcess;
using stats::Noise;

/// The behaviour of a simulated machine and program. Spreads are of logarithms; most others are
/// factors.
struct World {
  double spread = 0.02;         ///< of a benchmark between processes
  double canary_spread = 0.01;  ///< of the canary between passes
  double slower = 1;            ///< the first benchmark takes this many times as long
  double machine = 1;           ///< everything does, including the canary
  CanaryTimes parts{1, 1, 1};   ///< the canary's parts take this many times as long
  double others = 0;            ///< of two CPUs, the number used by others
};

Series simulate(Noise& noise, int processes, int benchmarks, const World& world = {}) {
  Series series;
  series.setup.processes = processes;
  for (int i = 0; i < benchmarks; ++i) series.setup.benchmarks.push_back("b" + std::to_string(i));
  const auto pass = [&] {
    const double factor = world.machine * std::exp(world.canary_spread * noise.normal());
    return CanaryTimes{1e7 * factor * world.parts.cpu_ns, 1e7 * factor * world.parts.memory_ns,
                       1e7 * factor * world.parts.futex_ns};
  };
  CanaryTimes before = pass();
  for (int i = 0; i < processes; ++i) {
    SeriesProcess process;
    process.before = before;
    process.after = before = pass();
    process.use = model::Fact<model::CpuUse>::known(
        {.seconds = 1, .total_s = 2, .others_s = world.others, .stolen_s = 0});
    for (const std::string& name : series.setup.benchmarks) {
      const double factor = name == "b0" ? world.slower : 1;
      process.real_ns[name] =
          1e5 * factor * world.machine * std::exp(world.spread * noise.normal());
    }
    series.processes.push_back(process);
  }
  return series;
}

BaselineReport report_of(const Series& now, const Series& stored,
                         const BaselinePolicy& policy = {}) {
  return compare_with_baseline(now, stored, nullptr, policy);
}

/// A comparison of one benchmark: nine processes then, seven now.
BaselineReport compared(Noise& noise, const World& now, const World& then = {},
                        const BaselinePolicy& policy = {}) {
  const Series stored = simulate(noise, 9, 1, then);
  return report_of(simulate(noise, 7, 1, now), stored, policy);
}

/// The share of `trials` comparisons for which `is_meant` holds.
template <class IsMeant>
double share_of(int trials, IsMeant is_meant) {
  int count = 0;
  for (int i = 0; i < trials; ++i) count += is_meant() ? 1 : 0;
  return count / static_cast<double>(trials);
}

/// Any effect matters, so that only the statistics decide.
const BaselinePolicy kNoDelta{.alpha = 0.05, .pass_error = 0.05, .delta = 1e-9};

/// Worlds in which program and canary hardly differ between processes.
constexpr World kQuiet{.spread = 0.01, .canary_spread = 0.002};
constexpr World kStill{.spread = 0.001, .canary_spread = 0.001};

bool canary_moved(const BaselineReport& report) {
  return std::ranges::any_of(report.canary, &CanaryChange::moved);
}

TEST(baseline, the_times_of_a_row_belong_to_its_change) {
  Noise noise(31);
  for (int i = 0; i < 20; ++i) {
    const Series stored = simulate(noise, 9, 2);
    const auto report = report_of(simulate(noise, 7, 2, {.machine = 1.3}), stored, kNoDelta);
    for (const BaselineRow& row : report.rows) {
      EXPECT_NEAR(row.now_ns / row.baseline_ns, 1 + row.rolling.change, 1e-12);
    }
  }
}

TEST(baseline,
     cpus_that_the_host_moves_within_a_series_are_told_and_leave_the_verdict_to_the_times) {
  Noise noise(32);
  const auto with_handover = [&noise](int processes) {
    Series series = simulate(noise, processes, 1, kStill);
    for (SeriesProcess& process : series.processes) {
      process.before.handover_ns = 4e5 * std::exp(0.1 * noise.normal());
      process.after.handover_ns = 4e5 * std::exp(0.1 * noise.normal());
    }
    return series;
  };
  const Series stored = with_handover(9);
  EXPECT_FALSE(moved_cpus(stored).has_value());
  Series now = with_handover(7);
  EXPECT_FALSE(report_of(now, stored).moved_cpus.has_value());
  // In two of seven processes, so that the median of the passes does not show it.
  for (std::size_t i = 5; i < 7; ++i) *now.processes[i].after.handover_ns *= 5;
  const auto report = report_of(now, stored);
  ASSERT_TRUE(report.moved_cpus.has_value());
  EXPECT_GT(report.moved_cpus->greatest_ns, 3 * report.moved_cpus->least_ns);
  EXPECT_FALSE(report.environment_moved);
  EXPECT_EQ(report.rows.front().verdict, Verdict::pass);
  EXPECT_FALSE(report_of(now, stored, {.allow_busy = true}).moved_cpus.has_value());
}

TEST(baseline, a_process_counts_where_the_cpus_were_when_it_was_measured_first) {
  const auto process = [](double before, double after) {
    SeriesProcess result;
    result.before.handover_ns = before;
    result.after.handover_ns = after;
    return result;
  };
  EXPECT_TRUE(was_at(std::nullopt, process(3e5, 4e5)));
  EXPECT_FALSE(was_at(std::nullopt, process(3e5, 24e5))) << "moved meanwhile";
  EXPECT_TRUE(was_at(3.5e5, process(3e5, 4e5)));
  EXPECT_FALSE(was_at(3.5e5, process(23e5, 24e5))) << "moved before";
  EXPECT_FALSE(was_at(3.5e5, process(3e5, 24e5)));
  EXPECT_TRUE(was_at(3.5e5, SeriesProcess{})) << "one CPU has one place";
  EXPECT_FALSE(place_of(Series{}).has_value());
  Series series;
  series.processes = {process(2e5, 8e5)};
  EXPECT_NEAR(place_of(series).value(), 4e5, 1e-3);
  // All processes that count are close enough to each other for a verdict.
  const double nearest = std::sqrt(1 + kHandoverSpread) * (1 - 1e-9);
  series.processes = {process(4e5 / nearest, 4e5 * nearest)};
  EXPECT_TRUE(was_at(4e5, series.processes.front()));
  EXPECT_FALSE(moved_cpus(series).has_value());
}

TEST(baseline, a_disturbed_process_of_the_stored_ones_hides_no_slowdown) {
  Noise noise(39);
  for (const int processes : {9, 15}) {
    Series stored = simulate(noise, processes, 1, kQuiet);
    stored.processes[4].real_ns["b0"] *= 1.9;
    World slower = kQuiet;
    slower.slower = 1.1;
    EXPECT_EQ(report_of(simulate(noise, 7, 1, slower), stored).overall, Verdict::fail);
  }
}

TEST(baseline, one_process_without_a_change_fails_as_often_as_alpha_says) {
  // The bound is exact for normal noise, one fresh value and one benchmark; the canary is quiet.
  constexpr int kTrials = 8000;
  Noise noise(1);
  const World quiet{.canary_spread = 0};
  const double failed = share_of(kTrials, [&] {
    const Series stored = simulate(noise, 7, 1, quiet);
    return report_of(simulate(noise, 1, 1, quiet), stored, kNoDelta).overall == Verdict::fail;
  });
  EXPECT_NEAR(failed, kNoDelta.alpha, stats::four_errors(0.05, kTrials));
}

TEST(baseline, several_benchmarks_and_an_anchor_together_fail_no_oftener_than_alpha_says) {
  constexpr int kTrials = 1500;
  Noise noise(2);
  const double failed = share_of(kTrials, [&] {
    const Series stored = simulate(noise, 9, 4);
    const Series anchor = simulate(noise, 9, 4);
    const auto report = compare_with_baseline(simulate(noise, 7, 4), stored, &anchor, kNoDelta);
    return report.overall == Verdict::fail;
  });
  EXPECT_LE(failed, kNoDelta.alpha + stats::four_errors(0.05, kTrials));
}

TEST(baseline, a_change_by_delta_passes_no_oftener_than_the_error_says) {
  constexpr int kTrials = 1500;
  Noise noise(3);
  const BaselinePolicy policy;
  const World slower{.slower = 1 + policy.delta};
  const double passed = share_of(
      kTrials, [&] { return compared(noise, slower, {}, policy).overall == Verdict::pass; });
  EXPECT_LE(passed, policy.pass_error + stats::four_errors(0.05, kTrials));
}

TEST(baseline, a_change_by_delta_passes_no_oftener_where_the_canary_is_as_noisy_as_the_programs) {
  // Neighbours share a pass of the canary, so they are not independent; and the fresh series' world
  // is not quite that of the stored one.
  Noise noise(20);
  const BaselinePolicy policy{.delta = 0.1};
  const double passed = share_of(8000, [&] {
    const World then{.canary_spread = 0.02};
    World now = then;
    now.slower = (1 + policy.delta) * std::exp(0.01 * noise.normal());
    return compared(noise, now, then, policy).overall == Verdict::pass;
  });
  EXPECT_LE(passed, policy.pass_error);
}

TEST(baseline, a_change_by_detectable_fails_in_four_of_five_comparisons) {
  constexpr int kTrials = 4000;
  Noise noise(21);
  const World quiet{.canary_spread = 0};
  const double failed = share_of(kTrials, [&] {
    const Series stored = simulate(noise, 9, 1, quiet);
    const auto unchanged = report_of(simulate(noise, 7, 1, quiet), stored, kNoDelta);
    World slower = quiet;
    slower.slower = 1 + unchanged.rows.front().rolling.detectable;
    return report_of(simulate(noise, 7, 1, slower), stored, kNoDelta).overall == Verdict::fail;
  });
  // The median of seven loses a little less than the median of many, which the formula assumes.
  EXPECT_NEAR(failed, 0.8, 0.01 + stats::four_errors(0.8, kTrials));
}

TEST(baseline, what_is_measured_beyond_the_limit_fails_and_nothing_else) {
  Noise noise(4);
  EXPECT_EQ(share_of(1000,
                     [&] {
                       const auto row = compared(noise, {.slower = 1.1}).rows.front();
                       const bool is_beyond = row.rolling.change > row.rolling.limit;
                       return is_beyond == (row.verdict == Verdict::fail);
                     }),
            1);
}

TEST(baseline, a_change_less_than_the_noise_floor_never_fails) {
  Noise noise(22);
  const World still{.spread = 1e-6, .canary_spread = 1e-6};
  World slower = still;
  slower.slower = 1.05;
  const Series stored = simulate(noise, 9, 2, still);
  const Series now = simulate(noise, 7, 2, slower);
  BaselinePolicy policy;
  EXPECT_EQ(report_of(now, stored, policy).rows.front().verdict, Verdict::fail);
  policy.noise_floors["b0"] = {0.08, "calibrated"};
  const auto report = compare_with_baseline(now, stored, nullptr, policy);
  EXPECT_EQ(report.overall, Verdict::pass);
  EXPECT_NEAR(report.rows.front().rolling.delta, 0.08, 1e-12);
  EXPECT_NEAR(report.rows.front().rolling.limit, 0.08, 1e-12);
  EXPECT_NEAR(report.rows.back().rolling.delta, 0.03, 1e-12) << "of each its own";
}

TEST(baseline, a_change_less_than_delta_never_fails) {
  Noise noise(5);
  World still{.spread = 1e-6, .canary_spread = 1e-6};
  for (const auto& [slower, verdict] : {std::pair{1.02, Verdict::pass}, {1.04, Verdict::fail}}) {
    World now = still;
    now.slower = slower;
    EXPECT_EQ(compared(noise, now, still).overall, verdict);
  }
}

TEST(baseline, faster_passes_by_the_mirrored_rule) {
  Noise noise(6);
  const auto report = report_of(simulate(noise, 7, 2, {.slower = 0.7}), simulate(noise, 9, 2), {});
  EXPECT_EQ(report.rows.front().verdict, Verdict::pass);
  EXPECT_TRUE(report.rows.front().improved);
  EXPECT_FALSE(report.rows.back().improved);
}

TEST(baseline, too_much_noise_is_inconclusive) {
  Noise noise(7);
  const World noisy{.spread = 0.3};
  EXPECT_EQ(compared(noise, noisy, noisy).overall, Verdict::inconclusive);
}

TEST(baseline, one_disturbed_process_of_seven_does_not_fail) {
  Noise noise(8);
  const Series stored = simulate(noise, 9, 1);
  Series now = simulate(noise, 7, 1);
  now.processes[3].real_ns["b0"] *= 5;
  EXPECT_NE(report_of(now, stored).overall, Verdict::fail);
}

TEST(baseline, a_machine_that_is_a_little_slower_is_taken_out_by_the_canary) {
  Noise noise(9);
  const auto report = compared(noise, {.machine = 1.02});
  EXPECT_FALSE(report.environment_moved);
  EXPECT_LT(std::abs(report.rows.front().rolling.change), 0.03);
}

TEST(baseline, what_a_part_of_the_canary_that_moved_can_explain_is_no_failure_and_more_is_one) {
  Noise noise(10);
  const Series stored = simulate(noise, 9, 2, kStill);
  for (const auto& [slower, memory, verdict] :
       {std::tuple{1.3, 1.5, Verdict::inconclusive}, std::tuple{2.0, 1.5, Verdict::fail},
        std::tuple{1.0, 1.5, Verdict::pass}, std::tuple{1.3, 0.6, Verdict::fail}}) {
    World moved = kStill;
    moved.slower = slower;
    moved.parts.memory_ns = memory;
    const auto report = report_of(simulate(noise, 7, 2, moved), stored);
    EXPECT_EQ(report.overall, verdict) << slower << ' ' << memory;
    EXPECT_EQ(report.environment_moved, verdict == Verdict::inconclusive);
    EXPECT_EQ(report.rows.front().masked, verdict == Verdict::inconclusive);
    for (const CanaryChange& each : report.canary) {
      EXPECT_EQ(each.moved, each.part == "memory") << each.part;
      EXPECT_LE(each.change * each.limit < 0, !each.moved) << "on the same side";
      EXPECT_EQ(each.moved, std::abs(each.change) > std::abs(each.limit)) << "which then says so";
    }
  }
}

TEST(baseline, a_part_that_became_faster_hides_a_slowdown_only_of_programs_that_follow_it) {
  Noise noise(40);
  for (const double slope : {0.0, 1.0}) {
    // The part varies between processes, which shows what follows it.
    const auto series = [&](int processes, double level) {
      Series result = simulate(noise, processes, 1, kStill);
      for (SeriesProcess& process : result.processes) {
        const double memory = level * std::exp(0.01 * noise.normal());
        process.before.memory_ns = process.after.memory_ns = 1e7 * memory;
        process.real_ns["b0"] *= std::pow(memory, slope);
      }
      return result;
    };
    const Series stored = series(15, 1);
    Series now = series(14, 0.84);
    for (SeriesProcess& process : now.processes) process.real_ns["b0"] *= std::pow(0.84, -slope);
    const auto report = report_of(now, stored);  // as slow as then, though memory is faster
    EXPECT_TRUE(canary_moved(report));
    EXPECT_EQ(report.overall, slope == 0 ? Verdict::pass : Verdict::inconclusive);
    EXPECT_EQ(report.environment_moved, slope == 1);
  }
}

TEST(baseline, a_part_that_became_slower_excuses_a_slowdown_only_of_programs_that_may_follow_it) {
  Noise noise(42);
  for (const double slope : {0.0, 1.0}) {
    const auto series = [&](int processes, double level) {
      Series result = simulate(noise, processes, 1, kStill);
      for (SeriesProcess& process : result.processes) {
        const double memory = level * std::exp(0.3 * noise.normal());
        process.before.memory_ns = process.after.memory_ns = 1e7 * memory;
        process.real_ns["b0"] *= std::pow(memory, 0.1 * slope);
      }
      return result;
    };
    const Series stored = series(25, 1);
    const auto slower_by_a_tenth = [&](double level) {
      Series now = series(7, level);
      for (SeriesProcess& process : now.processes) process.real_ns["b0"] *= 1.1;
      const auto report = report_of(now, stored);
      EXPECT_TRUE(canary_moved(report));
      return report.overall;
    };
    // As far as the part moved in the baseline itself, and far beyond that.
    EXPECT_EQ(slower_by_a_tenth(3), slope == 0 ? Verdict::fail : Verdict::inconclusive);
    EXPECT_EQ(slower_by_a_tenth(8), Verdict::inconclusive);
  }
}

TEST(baseline, parts_of_the_canary_that_move_against_each_other_are_seen_each_by_itself) {
  Noise noise(30);
  World moved = kStill;
  moved.slower = 1.15;
  moved.parts = {1, 0.78, 1.22};
  const auto report = compared(noise, moved, kStill);
  EXPECT_TRUE(report.environment_moved);
  EXPECT_EQ(report.overall, Verdict::inconclusive);
}

/// A shared machine between two measurements: levels that drift, a neighbour, disturbed processes.
struct SharedMachine {
  double level = 0;      ///< log, of memory and of what follows it
  double taken = 0;      ///< CPUs used by a neighbour
  double disturbed = 0;  ///< share of the processes that are disturbed, for any length of time

  [[nodiscard]] Series series(Noise& noise, int processes, double slower, double follows) const {
    Series result =
        simulate(noise, processes, 1,
                 {.spread = 0.008, .canary_spread = 0.005, .slower = slower, .others = taken});
    for (SeriesProcess& process : result.processes) {
      const double memory = level + 0.03 * noise.normal();
      process.before.memory_ns *= std::exp(memory);
      process.after.memory_ns = process.before.memory_ns;
      double& ns = process.real_ns["b0"];
      ns *= std::exp(follows * memory) / (1 - 0.6 * taken * noise.uniform());
      if (noise.uniform() < disturbed) ns *= 1 + 0.3 * std::abs(noise.heavy());
    }
    return result;
  }
};

struct Outcomes {
  double pass = 0;
  double fail = 0;
};

/// The outcomes of `trials` comparisons, each measured a second time as in `baseline compare`.
Outcomes outcomes(Noise& noise, int trials, double slower, double drift, bool busy) {
  Outcomes count;
  for (int i = 0; i < trials; ++i) {
    const double follows = 0.6 * noise.uniform();
    const SharedMachine then{.disturbed = 0.05};
    const Series stored = then.series(noise, 25, 1, follows);
    SharedMachine machine{.level = drift * noise.normal(),
                          .taken = busy ? noise.uniform() : 0.04 * noise.uniform(),
                          .disturbed = busy ? 0.3 : 0.05};
    Series now = machine.series(noise, 7, slower, follows);
    auto report = report_of(now, stored);
    now.setup.processes = 7;
    while (report.overall != Verdict::pass && now.rounds < 4 &&
           (report.overall != Verdict::fail || now.rounds == 1)) {
      machine.level += 0.3 * drift * noise.normal();
      const Series more = machine.series(noise, 7, slower, follows);
      ++now.rounds;
      now.processes.insert(now.processes.end(), more.processes.begin(), more.processes.end());
      report = report_of(now, stored);
    }
    count.pass += report.overall == Verdict::pass ? 1.0 / trials : 0;
    count.fail += report.overall == Verdict::fail ? 1.0 / trials : 0;
  }
  return count;
}

TEST(baseline, a_shared_machine_has_verdicts_and_no_false_alarms) {
  Noise noise(41);
  // From no drift to one that the canary can tell from chance; on a quiet and on a busy machine.
  double false_alarms = 0;
  for (const double drift : {0.0, 0.02, 0.1, 0.3}) {
    for (const bool busy : {false, true}) {
      false_alarms += outcomes(noise, 200, 1, drift, busy).fail / 8;
    }
  }
  EXPECT_LE(false_alarms, 0.0025);
  EXPECT_GE(outcomes(noise, 200, 1, 0.02, false).pass, 0.8);
  EXPECT_GE(outcomes(noise, 200, 1.1, 0.02, false).fail, 0.9);
  EXPECT_LE(outcomes(noise, 200, 1.1, 0.1, true).pass, 0.05);
}

TEST(baseline, a_canary_on_one_cpu_has_no_handover_and_on_several_it_guards_as_well) {
  Noise noise(31);
  Series stored = simulate(noise, 9, 1);
  Series now = simulate(noise, 7, 1, {.slower = 2});
  EXPECT_EQ(report_of(now, stored).canary.size(), 3U);
  const auto hand_over = [](Series& series, double ns) {
    for (SeriesProcess& process : series.processes) {
      process.before.handover_ns = process.after.handover_ns = ns;
    }
  };
  hand_over(stored, 1e6);
  hand_over(now, 1.02e6);
  EXPECT_FALSE(canary_moved(report_of(now, stored)));
  EXPECT_EQ(report_of(now, stored).overall, Verdict::fail);
  hand_over(now, 3e6);
  const auto report = report_of(now, stored);
  EXPECT_TRUE(report.environment_moved);
  EXPECT_EQ(report.canary.back().part, "handover");
  EXPECT_TRUE(report.canary.back().moved);
}

TEST(baseline, others_that_use_the_cpus_now_or_did_then_leave_no_verdict) {
  Noise noise(32);
  World busy = kQuiet;
  busy.others = 1;
  World slower_and_busy = busy;
  slower_and_busy.slower = 2;
  auto report = compared(noise, slower_and_busy, kQuiet);
  EXPECT_TRUE(report.others_moved);
  EXPECT_TRUE(report.environment_moved);
  EXPECT_EQ(report.overall, Verdict::inconclusive);
  EXPECT_DOUBLE_EQ(report.others_now->used, 1);
  EXPECT_DOUBLE_EQ(report.others_now->cpus, 2);
  report = compared(noise, kQuiet, busy);
  EXPECT_TRUE(report.others_moved) << "a slow baseline hides what is slower";
  EXPECT_EQ(report.overall, Verdict::inconclusive);
  report = compared(noise, slower_and_busy, kQuiet, {.allow_busy = true});
  EXPECT_FALSE(report.others_moved);
  EXPECT_EQ(report.overall, Verdict::fail);
  EXPECT_FALSE(compared(noise, busy, busy).others_moved) << "as it was";
}

TEST(baseline, an_anchor_of_a_busy_machine_or_one_in_another_state_is_shown_and_not_judged) {
  Noise noise(33);
  for (const World& then :
       {World{.slower = 0.5, .others = 1}, World{.slower = 0.5, .parts = {2, 1, 1}}}) {
    const Series anchor = simulate(noise, 9, 1, then);
    const auto report =
        compare_with_baseline(simulate(noise, 7, 1), simulate(noise, 9, 1), &anchor, {});
    EXPECT_TRUE(report.anchor_void);
    EXPECT_FALSE(report.environment_moved);
    EXPECT_NE(report.overall, Verdict::fail);
    EXPECT_TRUE(report.rows.front().anchor.has_value()) << "it is shown";
  }
}

TEST(baseline, bursts_in_most_processes_count_though_their_mean_is_small) {
  Noise noise(34);
  const Series stored = simulate(noise, 9, 1);
  Series now = simulate(noise, 7, 1);
  for (std::size_t i = 0; i < 7; ++i) now.processes[i].use.value->others_s = i < 4 ? 0.15 : 0;
  EXPECT_NEAR(others_of(now)->used, 0.6 / 7, 1e-9);
  EXPECT_TRUE(report_of(now, stored).others_moved);
  for (std::size_t i = 0; i < 7; ++i) now.processes[i].use.value->others_s = i < 2 ? 0.3 : 0;
  EXPECT_FALSE(report_of(now, stored).others_moved) << "the median does not see two of seven";
}

TEST(baseline, what_others_took_more_can_explain_is_no_failure) {
  Noise noise(35);
  const World still{.spread = 0.001, .canary_spread = 0.001};
  World now = still;
  now.slower = 1.08;
  EXPECT_EQ(compared(noise, now, still).overall, Verdict::fail);
  now.others = 0.06;  // of the one CPU that all threads wait for
  const auto report = compared(noise, now, still);
  EXPECT_FALSE(report.environment_moved);
  EXPECT_EQ(report.overall, Verdict::inconclusive);
  EXPECT_NEAR(std::log1p(report.rows.front().rolling.limit), std::log(1.03) - std::log(0.94), 1e-9);
  now.slower = 1.12;
  EXPECT_EQ(compared(noise, now, still).overall, Verdict::fail);
}

TEST(baseline, what_others_used_is_unknown_where_the_processes_were_too_short) {
  Noise noise(36);
  Series now = simulate(noise, 7, 1);
  for (SeriesProcess& process : now.processes) process.use.value->seconds = 0.1;
  EXPECT_FALSE(others_of(now));
  now.processes[0].use = model::Fact<model::CpuUse>::unknown("no /proc");
  EXPECT_EQ(others_of(now).reason, "no /proc");
  EXPECT_FALSE(report_of(now, simulate(noise, 9, 1)).environment_moved);
}

TEST(baseline, fresh_processes_that_fall_into_two_groups_do_not_fail) {
  Noise noise(37);
  const Series stored = simulate(noise, 9, 1, kQuiet);
  Series now = simulate(noise, 7, 1, kQuiet);
  for (const std::size_t slow : {0U, 2U, 3U, 6U}) now.processes[slow].real_ns["b0"] *= 1.78;
  EXPECT_EQ(report_of(now, stored).overall, Verdict::inconclusive);
  World slower = kQuiet;
  slower.slower = 1.78;
  EXPECT_EQ(report_of(simulate(noise, 7, 1, slower), stored).overall, Verdict::fail);
}

/// Two rounds of seven processes, from two worlds.
Series two_rounds(Noise& noise, const World& first, const World& second) {
  Series now = simulate(noise, 7, 1, first);
  const Series more = simulate(noise, 7, 1, second);
  now.processes.insert(now.processes.end(), more.processes.begin(), more.processes.end());
  now.rounds = 2;
  return now;
}

TEST(baseline, a_failure_that_is_confirmed_is_one_and_one_that_is_not_is_undecided) {
  Noise noise(38);
  const World& still = kQuiet;
  World slower = still;
  slower.slower = 1.3;
  const Series stored = simulate(noise, 9, 1, still);
  auto report = report_of(two_rounds(noise, slower, slower), stored);
  EXPECT_EQ(report.rounds, 2);
  EXPECT_EQ(report.overall, Verdict::fail);
  EXPECT_FALSE(report.rows.front().unconfirmed);
  EXPECT_EQ(report.rows.front().rolling.fresh, 14U);
  for (const auto& [first, second] : {std::pair{still, slower}, std::pair{slower, still}}) {
    report = report_of(two_rounds(noise, first, second), stored);
    EXPECT_EQ(report.overall, Verdict::inconclusive);
    EXPECT_TRUE(report.rows.front().unconfirmed);
  }
  EXPECT_EQ(report_of(two_rounds(noise, still, still), stored).overall, Verdict::pass);
}

TEST(baseline, a_canary_within_delta_has_not_moved_however_quiet_it_is) {
  Noise noise(11);
  const World still{.canary_spread = 1e-6};
  for (const double machine : {1.02, 1.05}) {
    World moved = still;
    moved.machine = machine;
    EXPECT_EQ(canary_moved(compared(noise, moved, still)), machine > 1.03);
  }
}

TEST(baseline, a_canary_that_has_not_changed_moves_seldom) {
  constexpr int kTrials = 1500;
  Noise noise(12);
  const double moved = share_of(kTrials, [&] {
    const Series stored = simulate(noise, 7, 1);
    return canary_moved(report_of(simulate(noise, 7, 1), stored, kNoDelta));
  });
  EXPECT_LE(moved, kNoDelta.alpha + stats::four_errors(0.05, kTrials));
}

TEST(baseline, a_drift_that_each_step_hides_fails_against_the_anchor) {
  Noise noise(13);
  const World still{.spread = 0.005, .canary_spread = 0.002};
  World rolling = still;
  rolling.slower = 1.1;
  World fresh = still;
  fresh.slower = 1.11;
  const Series anchor = simulate(noise, 9, 2, still);
  const Series stored = simulate(noise, 9, 2, rolling);
  const Series now = simulate(noise, 7, 2, fresh);
  EXPECT_EQ(compare_with_baseline(now, stored, nullptr, {}).overall, Verdict::pass);
  const auto report = compare_with_baseline(now, stored, &anchor, {});
  EXPECT_EQ(report.overall, Verdict::fail);
  EXPECT_TRUE(report.rows.front().drifted);
  EXPECT_FALSE(report.rows.back().drifted);
  EXPECT_NEAR(report.rows.front().anchor->change, 0.11, 0.02);
}

TEST(baseline, what_is_decided_is_not_said_to_be_unconfirmed) {
  Noise noise(39);
  World other = kQuiet;
  other.slower = 1.3;
  const Series now = two_rounds(noise, other, kQuiet);
  const Series as_before = simulate(noise, 9, 1, kQuiet);
  other.slower = 3;
  const Series far_slower = simulate(noise, 9, 1, other);
  other.slower = 1.0 / 3;
  const Series far_faster = simulate(noise, 9, 1, other);
  const auto passed = compare_with_baseline(now, far_slower, &as_before, {}).rows.front();
  EXPECT_EQ(passed.anchor->verdict, Verdict::inconclusive) << "one round of two failed";
  EXPECT_EQ(passed.verdict, Verdict::pass);
  EXPECT_FALSE(passed.unconfirmed);

  const auto drifted = compare_with_baseline(now, as_before, &far_faster, {}).rows.front();
  EXPECT_EQ(drifted.rolling.verdict, Verdict::inconclusive) << "one round of two failed";
  EXPECT_EQ(drifted.verdict, Verdict::fail);
  EXPECT_TRUE(drifted.drifted);
  EXPECT_FALSE(drifted.unconfirmed);
}

TEST(baseline, an_anchor_that_is_the_baseline_costs_nothing) {
  Noise noise(15);
  const Series stored = simulate(noise, 9, 1);
  const Series now = simulate(noise, 7, 1);
  const auto with = compare_with_baseline(now, stored, &stored, {});
  const auto without = compare_with_baseline(now, stored, nullptr, {});
  EXPECT_FALSE(with.rows.front().anchor.has_value());
  EXPECT_EQ(with.rows.front().rolling.detectable, without.rows.front().rolling.detectable);
}

TEST(baseline, units_and_the_order_of_processes_do_not_matter) {
  Noise noise(16);
  const Series stored = simulate(noise, 9, 1);
  const Series now = simulate(noise, 7, 1);
  const auto plain = report_of(now, stored).rows.front().rolling;
  Series other_stored = stored;
  Series other_now = now;
  for (Series* series : {&other_stored, &other_now}) {
    for (SeriesProcess& process : series->processes) process.real_ns["b0"] *= 1000;
  }
  std::swap(other_now.processes[1], other_now.processes[5]);
  const auto scaled = report_of(other_now, other_stored).rows.front().rolling;
  EXPECT_NEAR(scaled.change, plain.change, 1e-12);
  EXPECT_NEAR(scaled.detectable, plain.detectable, 1e-12);
  EXPECT_NEAR(scaled.high, plain.high, 1e-12);
}

TEST(baseline, follows_the_published_rule) {
  // k = 7 values of x with mean 0 and s = 0.1: t(6, 0.99) = 3.142668, sqrt(1 + 1/7) = 1.069045.
  Series stored;
  stored.setup.benchmarks = {"b"};
  const double step = 0.1 * std::sqrt(6.0 / 6.0);
  for (const double x : {-1.0, -1.0, -1.0, 0.0, 1.0, 1.0, 1.0}) {
    stored.processes.push_back({{1, 1, 1}, {1, 1, 1}, {{"b", std::exp(step * x)}}});
  }
  Series now = stored;
  const auto row = report_of(now, stored, {.alpha = 0.01}).rows.front().rolling;
  EXPECT_NEAR(std::log1p(row.limit), 3.142668 * 0.1 * 1.069045, 1e-6);
  EXPECT_NEAR(row.change, 0, 1e-12);
  EXPECT_EQ(row.stored, 7U);
}

TEST(baseline, benchmarks_of_one_side_are_told_and_not_compared) {
  Noise noise(17);
  Series stored = simulate(noise, 9, 3);
  Series now = simulate(noise, 7, 3);
  stored.setup.benchmarks = {"b0", "b1"};
  now.setup.benchmarks = {"b1", "b2"};
  const auto report = report_of(now, stored);
  ASSERT_EQ(report.rows.size(), 1U);
  EXPECT_EQ(report.rows.front().name, "b1");
  EXPECT_EQ(report.only_baseline, std::vector<std::string>{"b0"});
  EXPECT_EQ(report.only_now, std::vector<std::string>{"b2"});
}

TEST(baseline, nothing_in_common_is_no_pass) {
  Noise noise(18);
  Series now = simulate(noise, 7, 1);
  now.setup.benchmarks = {"another"};
  EXPECT_EQ(report_of(now, simulate(noise, 9, 1)).overall, Verdict::inconclusive);
}

TEST(baseline, no_processes_are_refused) {
  Noise noise(19);
  EXPECT_THROW((void)report_of(Series{}, simulate(noise, 9, 1), {}), std::invalid_argument);
  EXPECT_THROW((void)report_of(simulate(noise, 9, 1), Series{}, {}), std::invalid_argument);
}

}  // namespace
}  // namespace taskbench::reports::verdict
