#include "reports/verdict/noise.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "reports/stats/levels.hpp"
#include "reports/stats/power.hpp"
#include "reports/stats/sequential.hpp"
#include "reports/stats/summary.hpp"
#include "reports/stats/walsh.hpp"
#include "reports/verdict/paired.hpp"

namespace taskbench::reports::verdict {
namespace {

constexpr double kPercentile = 0.99;
constexpr std::size_t kPairsOfPercentile = 100;
constexpr std::size_t kLeastTrials = 5;

/// The noise floor of copies with these levels, from the differences between them.
double floor_of(const std::vector<double>& levels) {
  std::vector<double> sizes;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) sizes.push_back(std::abs(levels[i] - levels[j]));
  }
  return sizes.size() < kPairsOfPercentile ? std::ranges::max(sizes)
                                           : stats::quantile(sizes, kPercentile);
}

std::size_t number_of(const std::string& command, const std::vector<std::string>& copies) {
  const auto found = std::ranges::find(copies, command);
  if (found == copies.end()) throw std::invalid_argument("a trial is of other copies");
  return static_cast<std::size_t>(found - copies.begin());
}

}  // namespace

std::size_t least_noise_trials(std::size_t copies) { return std::max(kLeastTrials, copies); }

model::NoiseCalibration noise_of(const std::vector<std::string>& copies,
                                 std::span<const model::PairedTrial> trials) {
  if (trials.size() < least_noise_trials(copies.size())) {
    throw std::invalid_argument("a noise floor takes more trials");
  }
  model::NoiseCalibration noise;
  noise.copies = copies;
  const auto& names = trials.front().setup.benchmarks;
  noise.blocks = complete_blocks(trials.front());
  double seconds = 0;
  int blocks = 0;
  for (const model::PairedTrial& trial : trials) {
    if (trial.setup.benchmarks != names) {
      throw std::invalid_argument("the trials are of different benchmarks");
    }
    if (complete_blocks(trial) < 2) throw std::invalid_argument("a trial has too few blocks");
    blocks += complete_blocks(trial);
    for (const auto& sample : trial.samples) seconds += sample.took_s;
  }
  noise.block_s = seconds / blocks;
  for (const std::string& name : names) {
    model::BenchmarkNoise& each = noise.benchmarks[name];
    std::vector<double> deviations;
    std::vector<stats::PairDifference> differences;
    for (const model::PairedTrial& trial : trials) {
      const std::vector<double> d = block_differences(trial, name, complete_blocks(trial));
      each.effects.push_back(stats::hodges_lehmann(d));
      differences.push_back({number_of(trial.setup.base.command, copies),
                             number_of(trial.setup.head.command, copies), each.effects.back()});
      deviations.push_back(stats::robust_deviation(d));
    }
    each.deviation = stats::median(deviations);
    each.levels = stats::fitted_levels(copies.size(), differences);
    each.epsilon = std::expm1(floor_of(each.levels));
  }
  return noise;
}

std::optional<double> detectable(const model::BenchmarkNoise& noise, std::size_t benchmarks,
                                 std::size_t blocks, double alpha, double delta) {
  if (blocks < 2) return std::nullopt;
  const double spent_last =
      stats::last_look(blocks, {.alpha = alpha, .max_blocks = model::kDefaultMaxBlocks}).alpha;
  return finite(stats::minimum_failing_effect(noise.deviation, blocks, noise.epsilon, delta,
                                              {.alpha = spent_last, .workloads = benchmarks}));
}

}  // namespace taskbench::reports::verdict
