// Paired trials with a known truth.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "reports/model/paired.hpp"

namespace taskbench::reports::verdict {

/// The truth about a benchmark: how much slower head is, and how much processes differ.
struct Truth {
  std::string name;
  double change = 0;
  double noise = 0.01;
  double cpu_share = 0;  ///< of the wall time, in base; 0: the CPU time is unknown
  double cpu_change = 0;
  double cpu_noise = 0.01;
  double queued_share = 0;  ///< of the wall time; what remains beside the CPU time is sleep
};

inline model::PairedTrial made_up_trial(const std::vector<Truth>& truths, int blocks,
                                        std::uint64_t seed,
                                        std::optional<model::TrialEnd> end = std::nullopt) {
  model::PairedTrial trial;
  trial.setup.alpha = 0.01;
  trial.setup.pass_error = 0.05;
  trial.setup.delta = 0.03;
  trial.setup.seed = seed;
  trial.setup.repetitions = 5;
  trial.setup.max_blocks = 64;
  for (const Truth& truth : truths) {
    trial.setup.benchmarks.push_back(truth.name);
    trial.setup.noise_floors[truth.name] = {0.01, "assumed"};
    if (truth.cpu_share > 0) trial.setup.cpu_time_of[truth.name] = model::CpuTimeOf::process;
  }
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  for (int block = 0; block < blocks; ++block) {
    const double drift = 0.2 * normal(random);  // common to the block, so it must cancel out
    for (int position = 0; position < model::kBlockSize; ++position) {
      model::ProcessSample sample;
      sample.block = block;
      sample.position = position;
      sample.side = position == 1 || position == 2 ? model::Side::head : model::Side::base;
      for (const Truth& truth : truths) {
        const double effect = sample.side == model::Side::head ? std::log1p(truth.change) : 0;
        sample.real_ns[truth.name] =
            1000 * std::exp(effect + drift + 0.01 * position + truth.noise * normal(random));
        sample.counters[truth.name] = {{"steals", sample.side == model::Side::head ? 9.0 : 3.0},
                                       {"polls", 100 + normal(random)}};
        if (truth.cpu_share <= 0) continue;
        const double more = sample.side == model::Side::head ? std::log1p(truth.cpu_change) : 0;
        sample.counters[truth.name]["cpu_ns"] =
            1000 * truth.cpu_share * std::exp(more + truth.cpu_noise * normal(random));
        sample.counters[truth.name]["queued_ns"] = truth.queued_share * sample.real_ns[truth.name];
      }
      trial.samples.push_back(std::move(sample));
    }
  }
  trial.end = end;
  return trial;
}

}  // namespace taskbench::reports::verdict
