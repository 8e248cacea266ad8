#include "reports/verdict/noise.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "reports/stats/distributions.hpp"
#include "reports/stats/power.hpp"
#include "reports/stats/quantile.hpp"
#include "reports/stats/summary.hpp"
#include "reports/stats/walsh.hpp"
#include "reports/verdict/paired.hpp"

namespace taskbench::reports::verdict {
namespace {

constexpr double kPercentile = 0.99;
constexpr std::size_t kTrialsOfPercentile = 100;

double floor_of(const std::vector<double>& effects) {
  std::vector<double> sizes;
  double squares = 0;
  for (const double effect : effects) {
    sizes.push_back(std::abs(effect));
    squares += effect * effect;
  }
  if (sizes.size() >= kTrialsOfPercentile) return stats::quantile(sizes, kPercentile);
  const double mean_square = squares / static_cast<double>(effects.size());
  const double quantile = stats::normal_quantile((1 + kPercentile) / 2);  // of |z|
  return std::max(quantile * std::sqrt(mean_square), std::ranges::max(sizes));
}

}  // namespace

model::NoiseCalibration noise_of(std::span<const model::PairedTrial> trials) {
  if (trials.size() < kLeastNoiseTrials) {
    throw std::invalid_argument("a noise floor takes more trials");
  }
  model::NoiseCalibration noise;
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
    for (const model::PairedTrial& trial : trials) {
      const std::vector<double> d = block_differences(trial, name, complete_blocks(trial));
      each.effects.push_back(stats::hodges_lehmann(d));
      deviations.push_back(stats::robust_deviation(d));
    }
    each.deviation = stats::median(deviations);
    each.epsilon = std::expm1(floor_of(each.effects));
  }
  return noise;
}

std::optional<double> detectable(const model::BenchmarkNoise& noise, std::size_t benchmarks,
                                 std::size_t blocks, double alpha, double delta) {
  if (blocks < 2) return std::nullopt;
  const double effect =
      stats::minimum_failing_effect(noise.deviation, blocks, noise.epsilon, delta,
                                    {.alpha = alpha / static_cast<double>(benchmarks)});
  return std::isfinite(effect) ? std::optional(effect) : std::nullopt;
}

}  // namespace taskbench::reports::verdict
