// Noise floors from trials with made-up noise.
#include "reports/verdict/noise.hpp"
#include "reports/json/writer.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "reports/json/reader.hpp"
#include "reports/render/render.hpp"
#include "reports/verdict/digits.hpp"
#include "tests/reports/printed.hpp"
#include "tests/reports/text.hpp"

namespace taskbench::reports::verdict {
namespace {

using model::Side;

/// An A/A trial of two copies: "sort" differs by `layout` in every block, and each process by
/// `noise`.
model::PairedTrial trial_of(double layout, double noise, int blocks, std::mt19937_64& random) {
  model::PairedTrial trial;
  trial.setup.benchmarks = {"sort", "hash"};
  std::normal_distribution<double> normal;
  for (int i = 0; i < blocks * model::kBlockSize; ++i) {
    model::ProcessSample sample;
    sample.block = i / model::kBlockSize;
    sample.position = i % model::kBlockSize;
    sample.side = sample.position == 0 || sample.position == 3 ? Side::base : Side::head;
    sample.took_s = 0.25;
    const double x = sample.side == Side::head ? layout : 0;
    sample.real_ns["sort"] = 1000 * std::exp(x + noise * normal(random));
    sample.real_ns["hash"] = 10 * std::exp(noise * normal(random));
    trial.samples.push_back(sample);
  }
  return trial;
}

/// Trials of each pair of copies with these levels, in both directions, as often as needed for
/// `trials`.
std::vector<model::PairedTrial> trials_of(const std::vector<double>& levels, std::size_t trials,
                                          double noise, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<model::PairedTrial> all;
  const std::size_t copies = levels.size();
  while (all.size() < trials) {
    for (std::size_t i = 0; i < copies * copies && all.size() < trials; ++i) {
      const std::size_t base = i % copies;
      const std::size_t head = (base + 1 + i / copies) % copies;
      if (head == base) continue;
      all.push_back(trial_of(levels[head] - levels[base], noise, 16, random));
      all.back().setup.base.command = fmt::format("copy {}", base);
      all.back().setup.head.command = fmt::format("copy {}", head);
    }
  }
  return all;
}

std::vector<std::string> copies_of(std::size_t count) {
  std::vector<std::string> copies;
  for (std::size_t i = 0; i < count; ++i) copies.push_back(fmt::format("copy {}", i));
  return copies;
}

model::NoiseCalibration two_copies(double layout, std::size_t trials, double noise) {
  return noise_of(copies_of(2), trials_of({0, layout}, trials, noise));
}

TEST(Noise, the_floor_is_what_the_two_most_different_copies_differ_by) {
  const std::vector<double> levels{0.01, -0.04, 0.005, 0.025};
  const auto noise = noise_of(copies_of(4), trials_of(levels, 12, 0));
  const auto& sort = noise.benchmarks.at("sort");
  ASSERT_EQ(sort.effects.size(), 12U);
  EXPECT_NEAR(sort.effects[0], -0.05, 1e-9);
  for (std::size_t i = 0; i < levels.size(); ++i) EXPECT_NEAR(sort.levels[i], levels[i], 1e-9);
  EXPECT_NEAR(sort.epsilon, std::expm1(0.065), 1e-9);
  EXPECT_NEAR(noise.benchmarks.at("hash").epsilon, 0, 1e-9);
}

TEST(Noise, of_a_hundred_pairs_of_copies_the_floor_is_the_99th_percentile) {
  std::vector<double> levels(15, 0.0);  // 105 pairs, 14 of them with the outlier
  levels[7] = 0.1;
  for (std::size_t i = 0; i < levels.size(); ++i) levels[i] += 1e-6 * static_cast<double>(i);
  levels[3] = -0.01;
  const auto noise = noise_of(copies_of(15), trials_of(levels, 210, 0));
  // The greatest is 0.110007; next come those of the outlier with the 13 others.
  EXPECT_NEAR(noise.benchmarks.at("sort").epsilon, std::expm1(0.1), 1e-4);
}

// Why this rule exists: in a calibration next to a compiler, processes scattered by 30 % a block,
// and taking the estimates of single trials for the layout's effect gave a floor of 45 %.
TEST(Noise, what_processes_differ_by_at_random_averages_out_of_the_floor) {
  const double layout = 0.05;
  const double scatter = 0.1;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto noise = noise_of(copies_of(2), trials_of({0, layout}, 100, scatter, seed));
    // 100 trials of 16 blocks: the level is known to 0.1 / sqrt(1600) = 0.25 %.
    EXPECT_NEAR(noise.benchmarks.at("sort").epsilon, std::expm1(layout), 0.0125) << seed;
    EXPECT_LT(noise.benchmarks.at("hash").epsilon, 0.0125) << seed;
  }
}

TEST(Noise, the_deviation_is_that_of_a_block) {
  const auto noise = two_copies(0, 40, 0.02);
  // Half of the difference of two and two processes is as noisy as one process.
  EXPECT_NEAR(noise.benchmarks.at("hash").deviation, 0.02, 0.003);
  EXPECT_DOUBLE_EQ(noise.block_s, 1.0);
  EXPECT_EQ(noise.blocks, 16);
}

TEST(Noise, more_blocks_see_less_and_never_less_than_the_floor) {
  const auto noise = two_copies(0.01, 5, 0.02);
  const auto& sort = noise.benchmarks.at("sort");
  EXPECT_FALSE(detectable(sort, 2, 1, 0.01, 0.03));
  EXPECT_FALSE(detectable(sort, 2, 4, 0.01, 0.03)) << "no test of 4 blocks has such a level";
  const auto few = detectable(sort, 2, 16, 0.01, 0.03);
  const auto many = detectable(sort, 2, 64, 0.01, 0.03);
  ASSERT_TRUE(few && many);
  EXPECT_LT(*many, *few);
  EXPECT_GT(*many, sort.epsilon);
}

TEST(Noise, too_few_or_different_trials_are_refused) {
  const auto copies = copies_of(2);
  auto trials = trials_of({0, 0}, 4, 0.01);
  EXPECT_THROW((void)noise_of(copies, trials), std::invalid_argument);
  trials.push_back(trials.front());
  EXPECT_NO_THROW((void)noise_of(copies, trials));
  EXPECT_THROW((void)noise_of(copies_of(3), trials), std::invalid_argument) << "one in no trial";
  EXPECT_THROW((void)noise_of(copies_of(6), trials), std::invalid_argument);
  trials.back().setup.head.command = "another";
  EXPECT_THROW((void)noise_of(copies, trials), std::invalid_argument);
  trials.back() = trials.front();
  trials.back().setup.benchmarks = {"sort"};
  EXPECT_THROW((void)noise_of(copies, trials), std::invalid_argument);
  trials.back() = trials.front();
  trials.back().samples.resize(7);
  EXPECT_THROW((void)noise_of(copies, trials), std::invalid_argument);
}

TEST(Noise, is_read_as_it_was_written) {
  auto noise = two_copies(0.01, 5, 0.01);
  noise.date = "2026-11-21T08:00:00+00:00";
  noise.machine = {{"cpu_model", "A \"CPU\""}, {"governor", ""}};
  const auto again = json::parse_noise("noise.json", json::to_json(noise));
  EXPECT_EQ(json::to_json(again), json::to_json(noise));
  EXPECT_EQ(again.machine, noise.machine);
  for (const std::string_view bad : {"", "{}", "[1]", "\xff", R"({"taskbench_noise": 2})"}) {
    EXPECT_THROW((void)json::parse_noise("noise.json", bad), json::ReadError) << bad;
  }
}

TEST(Noise, the_table_says_what_can_be_seen) {
  auto noise = two_copies(0.01, 5, 0.01);
  const std::string text = render::table(noise, {});
  EXPECT_TRUE(contains(text, "benchmark  noise floor  of a block  seen in 1 min"));
  EXPECT_TRUE(contains(text, "5 trials of 16 blocks, 2 copies of one build"));
}

TEST(FloorOfDigits, is_a_step_of_the_shortest_time_and_at_most_that_of_a_single_step) {
  EXPECT_FALSE(floor_of_digits(0, 20)) << "nothing was printed";
  EXPECT_DOUBLE_EQ(floor_of_digits(1, 20).value().epsilon, 1 / 19.5);
  EXPECT_DOUBLE_EQ(floor_of_digits(1, 0.2).value().epsilon, 2) << "once printed with finer digits";
  model::NoiseFloor floor{0.06, "assumed: why"};
  raise_to_digits(floor_of_digits(1, 20).value(), floor);
  EXPECT_EQ(floor.source, "assumed: why");
  raise_to_digits(floor_of_digits(1, 10).value(), floor);
  EXPECT_EQ(floor.source, "assumed: why; raised, as the program prints times in steps of 1 ns");
}

}  // namespace
}  // namespace taskbench::reports::verdict
