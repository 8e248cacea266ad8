// Derives a noise floor from A/A trials, and from that the change that a trial can detect:
// docs/design/measurement.md. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reports/model/noise.hpp"
#include "reports/model/paired.hpp"

namespace taskbench::reports::verdict {

/// The smallest number of trials with this many copies that gives a floor: each copy must be in two
/// of them, and the largest of only a few differences says too little.
[[nodiscard]] std::size_t least_noise_trials(std::size_t copies);

/// Fills in blocks, block_s and the benchmarks from complete A/A trials of one set of benchmarks;
/// the caller fills in the rest. Each trial compares two of `copies`, identified by their commands.
/// Throws std::invalid_argument for fewer trials than least_noise_trials, for trials that differ in
/// their benchmarks, are of other copies or have fewer than two blocks, and for copies that no
/// chain of trials links.
///
/// The floor is the 99th percentile of the size of the differences between the copies; with fewer
/// than 100 pairs of copies, the maximum. A copy's level is fitted to all trials, so that random
/// differences between processes average out: they belong to a trial, not to a copy.
[[nodiscard]] model::NoiseCalibration noise_of(const std::vector<std::string>& copies,
                                               std::span<const model::PairedTrial> trials);

/// The change that a trial of all these benchmarks would fail in four of five cases; empty if no
/// trial with this many blocks can.
[[nodiscard]] std::optional<double> detectable(const model::BenchmarkNoise& noise,
                                               std::size_t benchmarks, std::size_t blocks,
                                               double alpha, double delta);

}  // namespace taskbench::reports::verdict
