// Trials of parts measured on many machines: made up, so that their truth is known.
#include "reports/verdict/merged.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "reports/json/paired.hpp"
#include "reports/render/effort.hpp"
#include "reports/render/paired.hpp"
#include "reports/stats/power.hpp"
#include "reports/stats/walsh.hpp"
#include "reports/verdict/machines.hpp"
#include "reports/verdict/paired.hpp"
#include "tests/reports/printed.hpp"
#include "tests/reports/text.hpp"

namespace taskbench::reports::verdict {
namespace {

using model::PairedTrial;
using model::Side;
using model::Unit;

/// The machines of a simulation, each with one part.
struct Fleet {
  const char* name = "";
  int machines = 8;
  int blocks = 8;       ///< of each machine
  double effect = 0;    ///< log ratio
  double differs = 0;   ///< deviation of the effect between machines
  double noise = 0.03;  ///< of a block's difference
  bool speeds = false;  ///< machines are up to four times as slow, and as noisy
  double drift = 0;     ///< deviation of a random walk from process to process
  double lie = 0;       ///< what the first machine adds to head
  double delta = 1e-9;  ///< every significant change is a FAIL
};

PartFile part_of(const Fleet& fleet, int number, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  PartFile file{fmt::format("p{}", number), {}};
  PairedTrial& trial = file.trial;
  trial.setup.max_blocks = 1000;
  trial.setup.delta = fleet.delta;
  trial.setup.benchmarks = {"sort"};
  trial.setup.noise_floors["sort"] = {0, "made up"};
  trial.setup.part = model::TrialPart{.number = number,
                                      .of = fleet.machines,
                                      .plan = "one",
                                      .machine = fmt::format("m{}", number),
                                      .kind = {},
                                      .host = fmt::format("host{}", number),
                                      .date = {}};
  const double speed = fleet.speeds ? 1 + 3.0 * number / fleet.machines : 1;
  const double effect =
      fleet.effect + fleet.differs * normal(random) + (number == 1 ? fleet.lie : 0);
  double drifted = 0;
  for (int block = 0; block < fleet.blocks; ++block) {
    const bool base_first = random() % 2 == 0;
    for (int position = 0; position < model::kBlockSize; ++position) {
      const bool is_outer = position == 0 || position == 3;
      const Side side = is_outer == base_first ? Side::base : Side::head;
      drifted += fleet.drift * normal(random);
      const double x = std::log(1000 * speed) + drifted + fleet.noise * speed * normal(random) +
                       (side == Side::head ? effect : 0);
      model::ProcessSample sample;
      sample.block = block;
      sample.position = position;
      sample.side = side;
      sample.real_ns["sort"] = std::exp(x);
      trial.samples.push_back(std::move(sample));
    }
  }
  trial.end = model::TrialEnd::blocks;
  return file;
}

std::vector<PartFile> parts_of(const Fleet& fleet, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<PartFile> files;
  for (int i = 1; i <= fleet.machines; ++i) files.push_back(part_of(fleet, i, random));
  return files;
}

/// The parts as they are after one block each.
std::vector<PartFile> one_round(std::vector<PartFile> files) {
  for (PartFile& each : files) {
    each.trial.samples.resize(model::kBlockSize);
    each.trial.end.reset();
  }
  return files;
}

std::string why_refused(const std::vector<PartFile>& files) {
  try {
    (void)merge(files, {});
  } catch (const MergeError& error) {
    return error.what();
  }
  return {};
}

/// How many trials of a fleet fail, in per cent: with blocks, and with machines as observations.
struct Failing {
  double pooled = 0;
  double by_machine = 0;
};

/// Runs fewer trials of large fleets, unless TASKBENCH_FLEET_TRIALS says how many. From 1,000
/// trials on, prints the rows of the table in docs/design/measurement.md.
Failing failing(const Fleet& fleet) {
  const char* asked = std::getenv("TASKBENCH_FLEET_TRIALS");
  const int trials = asked != nullptr ? std::atoi(asked) : fleet.machines < 64 ? 60 : 8;
  Failing failed;
  for (int i = 0; i < trials; ++i) {
    const auto files = parts_of(fleet, 1 + static_cast<std::uint64_t>(i));
    const PairedReport report = judge(merge(files, {.unit = Unit::machine}));
    const MetricVerdict& pooled = report.benchmarks[0].by_machine->other;
    failed.by_machine += report.overall == Verdict::fail ? 100.0 / trials : 0;
    failed.pooled += pooled.verdict == Verdict::fail ? 100.0 / trials : 0;
  }
  if (trials >= 1000) {
    fmt::print("| {} | {} | {:.2f} % | {:.2f} % |\n", fleet.name, fleet.blocks, failed.pooled,
               failed.by_machine);
    std::fflush(stdout);
  }
  return failed;
}

TEST(merged_test, the_order_of_the_files_does_not_matter) {
  const Fleet fleet{.name = "some", .machines = 5, .blocks = 4, .differs = 0.02};
  std::vector<PartFile> files = parts_of(fleet, 3);
  const PairedTrial first = merge(files, {});
  std::ranges::reverse(files);
  const PairedTrial second = merge(files, {});
  EXPECT_EQ(json::to_json({.trial = first, .report = judge(first)}),
            json::to_json({.trial = second, .report = judge(second)}));
  EXPECT_EQ(complete_blocks(first), 20);
}

TEST(merged_test, what_does_not_belong_together_is_refused) {
  const std::vector<PartFile> files = parts_of({.name = "some", .machines = 3, .blocks = 2}, 1);
  const auto refused = [&](const auto& change) {
    std::vector<PartFile> changed = files;
    change(changed[1].trial.setup);
    return why_refused(changed);
  };
  EXPECT_EQ(why_refused(files), "");
  EXPECT_EQ(refused([](auto& setup) { setup.part->plan = "two"; }),
            "p2 and p1 are parts of different trials: all parts need the same options, the same "
            "seed, and the same arguments of their programs");
  EXPECT_EQ(refused([](auto& setup) { setup.part->number = 1; }),
            "p1 and p2 are both part 1 of 3: their blocks are the same ones; give one of them");
  EXPECT_EQ(refused([](auto& setup) { setup.part.reset(); }),
            "p2 is the journal of a whole trial, not of a part (--part)");
  EXPECT_EQ(refused([](auto& setup) { setup.part->of = 4; }),
            "p2 and p1 are parts of different trials: all parts need the same options, the same "
            "seed, and the same arguments of their programs");
  for (const bool is_base : {true, false}) {
    const std::string why = fmt::format("p2: its {} is not that of p1; build both sides once",
                                        is_base ? "base" : "head");
    const auto side = [&](auto& setup) -> auto& { return is_base ? setup.base : setup.head; };
    EXPECT_TRUE(refused([&](auto& setup) { side(setup).digest = "x"; }).starts_with(why));
    EXPECT_TRUE(refused([&](auto& setup) { side(setup).layouts = {"x", "y"}; }).starts_with(why));
  }
  EXPECT_EQ(refused([](auto& setup) { setup.identical = "they are the same"; }),
            "p1 or p2 was not measured, as if the programs were identical; measure both again");
}

TEST(merged_test, what_machines_have_found_out_is_put_together) {
  auto files = parts_of({.name = "some", .machines = 3, .blocks = 2}, 1);
  files[1].trial.setup.benchmarks = {"sort", "only on this machine"};
  files[1].trial.setup.noise_floors["only on this machine"] = {0.01, "made up"};
  for (model::ProcessSample& each : files[1].trial.samples) {
    each.real_ns["only on this machine"] = 7;
  }
  files[1].trial.setup.noise_floors["sort"] = {0.02, "noisy"};
  files[2].trial.setup.noise_floors["sort"] = {0.015, "less noisy"};
  files[0].trial.instructions = {{Side::base, "sort", {1}, {}}, {Side::head, "sort", {2}, {}}};
  files[2].trial.instructions = {{Side::base, "sort", {3}, {}}, {Side::head, "sort", {3}, {}}};
  const PairedTrial all = merge(files, {});
  EXPECT_EQ(all.setup.benchmarks, (std::vector<std::string>{"sort", "only on this machine"}));
  EXPECT_EQ(all.setup.noise_floors.at("sort").epsilon, 0.02);
  ASSERT_EQ(all.instructions.size(), 2U);  // counted by part 1
  EXPECT_EQ(all.instructions[1].per_iteration, std::vector<double>{2});
  const PairedReport report = judge(all);
  ASSERT_EQ(report.benchmarks.size(), 2U);
  EXPECT_EQ(report.benchmarks[0].blocks, 6);
  EXPECT_EQ(report.benchmarks[1].blocks, 2);
  EXPECT_EQ(report.benchmarks[1].by_machine->machines[0].blocks, 0);
}

TEST(merged_test, blocks_are_in_rounds_and_know_their_parts) {
  auto files = parts_of({.name = "some", .machines = 3, .blocks = 2}, 1);
  files[0].trial.samples.resize(4);
  std::ranges::reverse(files);
  std::vector<int> parts;
  const PairedTrial all = merge(files, {.may_miss_some = true});
  for (std::size_t i = 0; i < all.samples.size(); i += 4) {
    EXPECT_EQ(all.samples[i].block, static_cast<int>(i / 4));
    parts.push_back(all.samples[i].part);
  }
  EXPECT_EQ(parts, (std::vector<int>{1, 2, 3, 2, 3}));
  EXPECT_TRUE(all.end);
  files[1].trial.end.reset();  // of part 2
  EXPECT_TRUE(merge(files, {.may_miss_some = true}).end);
  EXPECT_FALSE(merge(files, {.rounds = 2}).end);  // it may continue
}

TEST(merged_test, what_is_missing_is_named_and_can_be_left_out) {
  std::vector<PartFile> files = parts_of({.name = "some", .machines = 4, .blocks = 4}, 1);
  files.erase(files.begin() + 1);
  EXPECT_EQ(why_refused(files),
            "of 4 parts one is missing: 2; measure it, or judge without by --missing ok");
  EXPECT_EQ(complete_blocks(merge(files, {.may_miss_some = true})), 12);
  files = parts_of({.name = "some", .machines = 4, .blocks = 4}, 1);
  files[2].trial.end.reset();
  files[2].trial.samples.resize(9);  // in the middle of a block
  EXPECT_TRUE(why_refused(files).starts_with("p3: the part has not ended, after 2 blocks; "));
  EXPECT_EQ(complete_blocks(merge(files, {.may_miss_some = true})), 14);
}

TEST(merged_test, without_the_counts_of_part_1_it_is_said_that_nothing_was_counted) {
  const auto why_uncounted = [](const std::vector<PartFile>& files) {
    return merge(files, {.may_miss_some = true}).uncounted.reason;
  };
  std::vector<PartFile> files = parts_of({.name = "some", .machines = 3, .blocks = 2}, 1);
  for (PartFile& each : files) each.trial.setup.counts_first = true;
  EXPECT_EQ(why_uncounted(files), "");
  const char* const why = "part 1, which counts for all, is missing or was cut short";
  files[0].trial.samples.clear();
  files[0].trial.end.reset();
  EXPECT_EQ(why_uncounted(files), why);
  files.erase(files.begin());
  EXPECT_EQ(why_uncounted(files), why);
  for (PartFile& each : files) each.trial.setup.counts_first = false;
  EXPECT_EQ(why_uncounted(files), "");
}

TEST(merged_test, all_of_alpha_is_spent_at_the_one_look) {
  const auto files = parts_of({.name = "slow", .machines = 7, .blocks = 1, .effect = 0.2}, 1);
  const PairedReport report = judge(merge(files, {}));
  EXPECT_EQ(report.overall, Verdict::fail);  // with 2^-7, the least possible
  EXPECT_EQ(report.benchmarks[0].alpha, 0.01);
  EXPECT_EQ(report.benchmarks[0].decided->blocks, 7);
}

TEST(merged_test, rounds_share_alpha_and_wait_for_the_slowest) {
  std::vector<PartFile> files = parts_of({.name = "slow", .blocks = 4, .effect = 0.2}, 1);
  const auto judged = [&] { return judge(merge(files, {.rounds = 3, .unit = Unit::block})); };
  EXPECT_EQ(judged().benchmarks[0].decided->blocks, 8);  // one of each part
  // The first look spends four tenths of alpha, and each of the other two half of the rest.
  const auto first = judge(merge(one_round(files), {.rounds = 3, .unit = Unit::block}));
  EXPECT_NEAR(first.benchmarks[0].alpha, 0.4 * 0.01, 1e-12);
  EXPECT_NEAR(judged().benchmarks[0].alpha, 0.6 * 0.01 / 2, 1e-12);
  files[5].trial.end.reset();
  files[5].trial.samples.resize(4);
  EXPECT_EQ(judged().benchmarks[0].blocks, 8);
  files[5].trial.samples.resize(3);
  EXPECT_TRUE(judged().benchmarks.empty());
  EXPECT_EQ(judged().overall, Verdict::inconclusive);
}

TEST(merged_test, with_seven_machines_it_is_judged_by_machine) {
  const auto unit_of = [](int machines, double alpha) {
    auto files = parts_of({.name = "some", .machines = machines, .blocks = 2}, 1);
    for (PartFile& each : files) each.trial.setup.alpha = alpha;
    return merge(files, {}).setup.unit;
  };
  EXPECT_EQ(unit_of(6, 0.05), Unit::block);
  EXPECT_EQ(unit_of(7, 0.01), Unit::machine);
  EXPECT_EQ(unit_of(7, 0.001), Unit::block);  // 2^-7 could not fail
  auto files = parts_of({.name = "some", .machines = 8, .blocks = 2}, 1);
  for (PartFile& each : files) each.trial.setup.part->machine = "one";
  EXPECT_EQ(merge(files, {}).setup.unit, Unit::block);
  files = parts_of({.name = "some", .machines = 7, .blocks = 2}, 1);
  files[3].trial.samples.clear();
  EXPECT_EQ(merge(files, {}).setup.unit, Unit::block);
}

TEST(merged_test, of_too_few_machines_the_report_names_machines_not_their_blocks) {
  const auto files = parts_of({.name = "some", .machines = 2, .blocks = 2}, 1);
  const PairedTrial trial = merge(files, {.unit = Unit::machine});
  const PairedReport report = judge(trial);
  EXPECT_FALSE(report.could_fail);
  EXPECT_EQ(render::reach_text(reach_of(trial, report.blocks), trial.setup), "");
  EXPECT_EQ(render::effort_text({render::Effort::Kind::minutes, 28, 0}, trial.setup),
            "about 28 blocks would decide, the further ones on other machines");
  expect_parts(
      render::table(trial, report, {}),
      {"2 machines cannot FAIL anything, however much slower head is; that takes 7 or more",
       "INCONCLUSIVE: 2 machines cannot prove any slowdown"});
}

TEST(merged_test, blocks_needed_of_machines_with_unequal_numbers_of_blocks_are_not_rounded_down) {
  auto files = parts_of({.name = "some", .blocks = 2, .effect = 0.1, .delta = 0.03}, 1);
  files[0].trial.samples.resize(model::kBlockSize);
  const PairedTrial trial = merge(files, {.unit = Unit::machine});
  ASSERT_EQ(complete_blocks(trial), 15);
  const std::vector<double> of_machines =
      observations(block_differences(trial, "sort", 15),
                   machine_of_blocks(trial, machines_of(trial)), Unit::machine);
  ASSERT_EQ(of_machines.size(), 8U);
  const auto machines = stats::blocks_needed(
      stats::robust_deviation(of_machines), stats::hodges_lehmann(of_machines), 0, 0.03,
      {trial.setup.alpha, trial.setup.pass_error, static_cast<std::size_t>(trial.setup.max_blocks),
       true});
  ASSERT_TRUE(machines.has_value());
  EXPECT_EQ(judge(trial).benchmarks[0].blocks_needed, (*machines * 15 + 7) / 8);
}

TEST(merged_test, blocks_needed_of_rounds_rest_on_what_the_last_may_spend) {
  const auto files =
      parts_of({.name = "some", .blocks = 4, .effect = -0.1, .noise = 0.2, .delta = 0.03}, 1);
  const auto row_of = [&](int rounds) {
    return judge(merge(files, {.rounds = rounds, .unit = Unit::block})).benchmarks[0];
  };
  const PairedTrial trial = merge(files, {.rounds = 3, .unit = Unit::block});
  const std::vector<double> d = block_differences(trial, "sort", 32);
  const auto needed = [&](double alpha, double pass_error) {
    return stats::blocks_needed(
        stats::robust_deviation(d), stats::hodges_lehmann(d), 0, 0.03,
        {alpha, pass_error, static_cast<std::size_t>(trial.setup.max_blocks), true});
  };
  // The first look spends four tenths of alpha and a tenth of the error of a PASS, the last half of
  // the rest.
  EXPECT_EQ(row_of(1).blocks_needed, needed(0.01, 0.05));
  EXPECT_EQ(row_of(3).blocks_needed, needed(0.6 * 0.01 / 2, 0.9 * 0.05 / 2));
  EXPECT_GT(row_of(3).blocks_needed, row_of(1).blocks_needed);
  EXPECT_GT(*row_of(3).by_machine->detectable_with_another,
            *row_of(1).by_machine->detectable_with_another);
}

TEST(merged_test, a_machine_that_lies_by_far_is_no_evidence) {
  // All eight are slower, which 1 of 256 flips reaches; without the liar's score, 2 do.
  const auto p_of = [](double lie) {
    auto files = parts_of({.name = "lies", .blocks = 2, .effect = 0.05, .noise = 1e-4}, 1);
    for (model::ProcessSample& sample : files[0].trial.samples) {
      if (sample.side == Side::head) sample.real_ns["sort"] *= std::exp(lie);
    }
    const PairedReport report = judge(merge(files, {.unit = Unit::machine}));
    EXPECT_EQ(report.benchmarks[0].by_machine->other.p, 1.0 / 65536);  // of 16 blocks
    return report.benchmarks[0].p;
  };
  EXPECT_EQ(p_of(0), 1.0 / 256);
  EXPECT_EQ(p_of(0.1), 1.0 / 256);  // three times as much as the others
  EXPECT_EQ(p_of(0.4), 2.0 / 256);
}

TEST(merged_test, each_machine_is_shown_and_those_that_differ_are_told) {
  auto files = parts_of({.name = "lies", .machines = 4, .blocks = 8, .lie = 0.3}, 1);
  files[2].trial.setup.part->kind = {{"cpu_model", "another"}};
  const PairedReport report = judge(merge(files, {}));
  ASSERT_EQ(report.machines.size(), 4U);
  EXPECT_EQ(report.machines[3].host, "host3");  // machines of the same kind come first
  const ByMachine& by = *report.benchmarks[0].by_machine;
  EXPECT_NEAR(by.machines[0].change, std::expm1(0.3), 0.06);
  EXPECT_NEAR(by.machines[0].change_without, 0, 0.03);
  EXPECT_GT(by.machines[1].change_without, 0.03);
  ASSERT_EQ(by.kinds.size(), 2U);
  EXPECT_EQ(by.kinds[0].kind, report.machines[0].kind);
  EXPECT_EQ(by.kinds[0].machines, 3);
  EXPECT_EQ(by.kinds[0].blocks, 24);
  EXPECT_EQ(by.kinds[1].change, by.machines[3].change);  // the only machine of its kind
  EXPECT_LT(by.kinds[0].low, by.kinds[0].change);
  EXPECT_LT(by.p_equal, 0.01);
  EXPECT_GT(by.spread, 0.05);
  EXPECT_LT(*by.detectable_with_another, *report.benchmarks[0].detectable);
}

TEST(merged_test, without_a_machine_the_change_is_that_of_all_others) {
  const auto files = parts_of({.name = "some", .machines = 5, .blocks = 3, .differs = 0.05}, 1);
  for (const Unit unit : {Unit::block, Unit::machine}) {
    const MergeRules rules{.may_miss_some = true, .unit = unit};
    const PairedReport all = judge(merge(files, rules));
    for (std::size_t i = 0; i < files.size(); ++i) {
      std::vector<PartFile> others = files;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      const PairedReport report = judge(merge(others, rules));
      EXPECT_EQ(all.benchmarks[0].by_machine->machines[i].change_without,
                report.benchmarks[0].change);
    }
  }
}

constexpr double kDelta = 0.03;
const double kFivePercent = std::log(1.05);

/// No change. Without --delta, every significant change is a FAIL, so that the test itself is
/// tried.
const Fleet kUnchanged[] = {
    {.name = "8 machines alike", .blocks = 8},
    {.name = "8, drift and speeds", .blocks = 8, .speeds = true, .drift = 0.01},
    {.name = "8, effects differ", .blocks = 8, .differs = 0.01},
    {.name = "8, effects differ", .blocks = 16, .differs = 0.01},
    {.name = "8, one lies by 50 %", .blocks = 8, .lie = 0.4},
    {.name = "8, one lies by 50 %, --delta 3 %", .blocks = 8, .lie = 0.4, .delta = kDelta},
    {.name = "64 machines alike", .machines = 64, .blocks = 2},
    {.name = "64, drift and speeds", .machines = 64, .blocks = 2, .speeds = true, .drift = 0.01},
    {.name = "64, effects differ", .machines = 64, .blocks = 4, .differs = 0.01},
    {.name = "64, one lies by 50 %", .machines = 64, .blocks = 2, .lie = 0.4},
};
class Unchanged : public testing::TestWithParam<Fleet> {};

TEST_P(Unchanged, seldom_fails_by_machine) {
  EXPECT_LE(failing(GetParam()).by_machine, GetParam().machines < 64 ? 5 : 0);
}
INSTANTIATE_TEST_SUITE_P(merged_test, Unchanged, testing::ValuesIn(kUnchanged));

const Fleet kSlower[] = {
    {.name = "8 machines", .blocks = 2, .effect = kFivePercent, .delta = kDelta},
    {.name = "8, effects differ",
     .blocks = 2,
     .effect = kFivePercent,
     .differs = 0.01,
     .delta = kDelta},
    {.name = "64 machines", .machines = 64, .blocks = 2, .effect = kFivePercent, .delta = kDelta},
    {.name = "64, drift and speeds",
     .machines = 64,
     .blocks = 2,
     .effect = kFivePercent,
     .speeds = true,
     .drift = 0.01,
     .delta = kDelta},
};
class Slower : public testing::TestWithParam<Fleet> {};

TEST_P(Slower, by_five_percent_is_found) {
  const Failing found = failing(GetParam());
  EXPECT_GE(found.pooled, 80);
  EXPECT_GE(found.by_machine, 80);
}
INSTANTIATE_TEST_SUITE_P(merged_test, Slower, testing::ValuesIn(kSlower));

}  // namespace
}  // namespace taskbench::reports::verdict
