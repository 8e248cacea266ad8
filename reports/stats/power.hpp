// The effect that a trial could have detected, and the blocks needed to detect a given one:
// docs/design/measurement.md.
//
// `deviation` is the deviation of the block differences, as log ratios. Pass
// stats::robust_deviation (walsh.hpp): it is to the signed-rank test what the standard deviation is
// to the t-test. The standard deviation of heavy-tailed differences is far larger, and would
// understate what the trial can detect.
//
// Every function throws std::invalid_argument for a deviation, epsilon or delta that is negative or
// not finite, for no blocks, and for an error that is not between 0 and 1.
#pragma once

#include <cstddef>
#include <optional>

#include "reports/stats/sequential.hpp"

namespace taskbench::reports::stats {

/// The error rates of a test.
struct TestErrors {
  double alpha = 0.01;        ///< of a false alarm in any of the workloads
  double beta = 0.2;          ///< of a missed slowdown: 0.2 is a power of 80 %
  std::size_t workloads = 1;  ///< that are tested together
};

/// The relative change (0.1 is 10 % slower) for which the verdict is FAIL with probability
/// 1 - beta. It is the greater of two changes.
///
/// With the first, the test "not slower by more than epsilon" is significant with that probability:
///     exp[ln(1 + epsilon) + (t(1 - alpha / workloads) + t(1 - beta)) deviation / sqrt(blocks)] - 1
/// with the quantiles of Student's t, blocks - 1 degrees of freedom. With robust_deviation,
/// simulated for normal noise, it is within 5 % of what the signed-rank test needs, from 12 blocks
/// and 16 possible outcomes at that level on. With so few blocks that only one outcome has the
/// level, all differences above epsilon, it would be a fifth too small; then it is, if greater,
///     exp[ln(1 + epsilon) + z((1 - beta)^(1 / blocks)) deviation] - 1
/// with the quantile of the normal distribution. That this outcome must also stand out among those
/// of other workloads (sign_flip.hpp) is covered by the first formula. +infinity for one block, and
/// if no sign-flip test of this many blocks has that level: least_p(blocks) >= alpha.
///
/// With the second, the estimate reaches delta. (For a change of exactly delta it does so only half
/// of the time.)
///     exp[ln(1 + delta) + t(1 - beta) deviation / sqrt(blocks)] - 1
/// If delta is less than epsilon, epsilon is used for it.
[[nodiscard]] double minimum_failing_effect(double deviation, std::size_t blocks, double epsilon,
                                            double delta, const TestErrors& errors);

/// The smallest number of blocks after which a trial that ends there can fail anything at all:
/// least_p is below what last_look (sequential.hpp) has left of alpha. With workloads above 1, that
/// many of the 2^blocks sign patterns must be below it: from there on a change need not be so large
/// that it shows in every block. Empty if no number is enough.
[[nodiscard]] std::optional<std::size_t> least_blocks(const TrialErrors& errors,
                                                      std::size_t workloads = 1);

/// Approximate number of blocks that lead to a verdict with a probability of 80 %, if the effect (a
/// log ratio) and the deviation are as estimated and the trial ends after them. An effect of ln(1 +
/// delta) or more then equals minimum_failing_effect; the margin of error of a smaller effect then
/// ends below ln(1 + delta); both with what last_look (sequential.hpp) has left. If delta is less
/// than epsilon, epsilon is used for it. Empty if more than a million are needed, since the effect
/// is too close to the threshold. Also throws for an effect that is not finite.
[[nodiscard]] std::optional<std::size_t> blocks_needed(double deviation, double effect,
                                                       double epsilon, double delta,
                                                       const TrialErrors& errors,
                                                       std::size_t workloads = 1);

}  // namespace taskbench::reports::stats
