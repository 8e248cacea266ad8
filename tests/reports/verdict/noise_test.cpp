// Noise floors, of trials whose noise is made up.
#include "reports/verdict/noise.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "reports/json/atomic_file.hpp"
#include "reports/json/noise.hpp"
#include "reports/json/reader.hpp"
#include "reports/render/noise.hpp"

namespace taskbench::reports::verdict {
namespace {

using model::Side;

/// An A/A trial: processes differ by `noise`, and the two copies by `layout`, for good.
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

std::vector<model::PairedTrial> trials_of(const std::vector<double>& layouts, double noise,
                                          std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<model::PairedTrial> trials;
  for (const double layout : layouts) trials.push_back(trial_of(layout, noise, 16, random));
  return trials;
}

TEST(Noise, the_floor_is_not_below_any_trial_of_few) {
  const std::vector<double> layouts{0.01, -0.04, 0.005, 0.01, -0.01, 0.02};
  const auto noise = noise_of(trials_of(layouts, 0));
  ASSERT_EQ(noise.benchmarks.at("sort").effects.size(), layouts.size());
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    EXPECT_NEAR(noise.benchmarks.at("sort").effects[i], layouts[i], 1e-9);
  }
  // 2.58 times their root mean square, 0.0197, is more than the greatest.
  EXPECT_NEAR(noise.benchmarks.at("sort").epsilon, std::expm1(2.5758 * 0.019685), 1e-5);
  EXPECT_NEAR(noise.benchmarks.at("hash").epsilon, 0, 1e-9);
  const auto outlier = noise_of(trials_of({0, 0, 0, 0, 0, 0, 0, 0, 0, 0.1}, 0));
  EXPECT_NEAR(outlier.benchmarks.at("sort").epsilon, std::expm1(0.1), 1e-9);
}

TEST(Noise, of_a_hundred_trials_the_floor_is_their_99th_percentile) {
  std::vector<double> layouts;
  for (int i = 0; i <= 100; ++i) layouts.push_back((i % 2 == 0 ? 1 : -1) * i * 1e-3);
  const auto noise = noise_of(trials_of(layouts, 0));
  EXPECT_NEAR(noise.benchmarks.at("sort").epsilon, std::expm1(0.099), 1e-9);
}

TEST(Noise, the_deviation_is_that_of_a_block) {
  const auto noise = noise_of(trials_of(std::vector<double>(40, 0.0), 0.02));
  // Half of the difference of two and two processes: as noisy as one.
  EXPECT_NEAR(noise.benchmarks.at("hash").deviation, 0.02, 0.003);
  EXPECT_DOUBLE_EQ(noise.block_s, 1.0);
  EXPECT_EQ(noise.blocks, 16);
}

TEST(Noise, more_blocks_see_less_and_never_less_than_the_floor) {
  const auto noise = noise_of(trials_of({0.01, -0.01, 0.01, -0.01, 0.01}, 0.02));
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
  auto trials = trials_of({0, 0, 0, 0}, 0.01);
  EXPECT_THROW((void)noise_of(trials), std::invalid_argument);
  trials.push_back(trials.front());
  EXPECT_NO_THROW((void)noise_of(trials));
  trials.back().setup.benchmarks = {"sort"};
  EXPECT_THROW((void)noise_of(trials), std::invalid_argument);
  trials.back() = trials.front();
  trials.back().samples.resize(7);
  EXPECT_THROW((void)noise_of(trials), std::invalid_argument);
}

TEST(Noise, is_read_as_it_was_written) {
  auto noise = noise_of(trials_of({0.01, -0.02, 0.01, 0, 0.01}, 0.01));
  noise.date = "2026-11-21T08:00:00+00:00";
  noise.machine = {{"cpu_model", "A \"CPU\""}, {"governor", ""}};
  noise.copies = {"a", "b --workers 2"};
  const auto path = std::filesystem::path(::testing::TempDir()) / "noise_test.json";
  ASSERT_TRUE(json::write_file_atomically(path, json::to_json(noise)).ok());
  const auto again = json::read_noise(path);
  EXPECT_EQ(json::to_json(again), json::to_json(noise));
  EXPECT_EQ(again.machine, noise.machine);
  for (const std::string_view bad : {"", "{}", "[1]", "\xff", R"({"taskbench_noise": 2})"}) {
    ASSERT_TRUE(json::write_file_atomically(path, bad).ok());
    EXPECT_THROW((void)json::read_noise(path), json::ReadError) << bad;
  }
  std::filesystem::remove(path);
  EXPECT_THROW((void)json::read_noise(path), json::ReadError);
}

TEST(Noise, the_table_says_what_can_be_seen) {
  auto noise = noise_of(trials_of({0.01, -0.01, 0.01, -0.01, 0.01}, 0.01));
  noise.copies = {"a", "b"};
  const std::string text = render::table(noise, {});
  EXPECT_NE(text.find("benchmark  noise floor  of a block  seen in 1 min"), std::string::npos)
      << text;
  EXPECT_NE(text.find("5 trials of 16 blocks, 2 copies of one build"), std::string::npos) << text;
}

}  // namespace
}  // namespace taskbench::reports::verdict
