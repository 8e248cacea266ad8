// What a trial could have found, and what it would take to find less. VERDICTS part A, point 9.
//
// `deviation` is that of the block differences, log ratios. Give stats::robust_deviation
// (walsh.hpp): it is to the signed-rank test what the standard deviation is to the t-test. The
// standard deviation of heavy-tailed differences is far larger, and would claim that the trial saw
// less than it did.
//
// Every function throws std::invalid_argument for a deviation, epsilon or delta that is negative or
// not finite, for no blocks, and for an error that is not between 0 and 1.
#pragma once

#include <cstddef>
#include <optional>

namespace taskbench::reports::stats {

/// How sure a test must be.
struct TestErrors {
  /// Of a false alarm in one workload; over W workloads alpha / W, which is on the cautious side.
  double alpha = 0.01;
  double beta = 0.2;  ///< of a miss: 0.2 is a power of 80 %
};

/// The relative change (0.1 is 10 % slower) for which the test "not slower by more than epsilon" is
/// significant with probability 1 - beta:
///     exp[ln(1 + epsilon) + (t(1 - alpha) + t(1 - beta)) deviation / sqrt(blocks)] - 1
/// with the quantiles of Student's t, blocks - 1 degrees of freedom. With robust_deviation,
/// simulated for normal noise, it is within 5 % of what the signed-rank test needs from 12 blocks
/// and 16 possible outcomes at that level on. With so few blocks that only one outcome has the
/// level, all differences above epsilon, it would be a fifth too small; then it is, if greater,
///     exp[ln(1 + epsilon) + z((1 - beta)^(1 / blocks)) deviation] - 1
/// with the quantile of the normal distribution. +infinity for one block, and when no sign-flip
/// test of so many blocks has that level: 2^-blocks > alpha.
[[nodiscard]] double minimum_detectable_effect(double deviation, std::size_t blocks, double epsilon,
                                               const TestErrors& errors);

/// The relative change for which the verdict is FAIL with probability 1 - beta. More than the above
/// where that falls short of delta: the estimate must reach delta too, and that of a change of just
/// delta does so half of the time. The greater of minimum_detectable_effect and
///     exp[ln(1 + delta) + t(1 - beta) deviation / sqrt(blocks)] - 1
/// where delta is taken as epsilon when it is less.
[[nodiscard]] double minimum_failing_effect(double deviation, std::size_t blocks, double epsilon,
                                            double delta, const TestErrors& errors);

/// Of a verdict: what it may be wrong with.
struct VerdictErrors {
  double alpha = 0.01;       ///< of a false FAIL
  double pass_error = 0.05;  ///< of a false PASS
};

/// About how many blocks end in a verdict, if the effect (a log ratio) and the deviation are what
/// they seem: an effect of ln(1 + delta) or more has then a margin of error, at alpha, that ends
/// above ln(1 + epsilon); a smaller one has one, at pass_error, that ends below ln(1 + delta).
/// delta is taken as epsilon when it is less. Empty when it takes more than a million, for the
/// effect is too near to the threshold. Throws for an effect that is not finite, too.
[[nodiscard]] std::optional<std::size_t> blocks_needed(double deviation, double effect,
                                                       double epsilon, double delta,
                                                       const VerdictErrors& errors);

}  // namespace taskbench::reports::stats
