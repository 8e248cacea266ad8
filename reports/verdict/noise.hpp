// From A/A trials to a noise floor, and from that to what a trial can see. VERDICTS part A, points
// 6 and 9. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reports/model/noise.hpp"
#include "reports/model/paired.hpp"

namespace taskbench::reports::verdict {

/// Trials below which no floor is given: the worst of so few says too little.
inline constexpr std::size_t kLeastNoiseTrials = 5;

/// Fills blocks, block_s and the benchmarks out of complete A/A trials of one set of benchmarks:
/// the rest is for the caller. Throws std::invalid_argument for fewer than kLeastNoiseTrials, and
/// for trials that differ in their benchmarks or have fewer than two blocks.
///
/// The floor is the 99th percentile of the size of the estimates. Of fewer than 100 trials that is
/// not among the data; it is then 2.58 times the root of their mean square, which is the 99th
/// percentile where they are normal, but no less than the greatest.
[[nodiscard]] model::NoiseCalibration noise_of(std::span<const model::PairedTrial> trials);

/// The change that a trial of all these benchmarks would fail in four of five cases; empty when no
/// number of that many blocks can.
[[nodiscard]] std::optional<double> detectable(const model::BenchmarkNoise& noise,
                                               std::size_t benchmarks, std::size_t blocks,
                                               double alpha, double delta);

}  // namespace taskbench::reports::verdict
