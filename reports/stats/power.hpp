// What a trial could have found, and what it would take to find less:
// docs/design/measurement.md.
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

#include "reports/stats/sequential.hpp"

namespace taskbench::reports::stats {

/// How sure a test must be.
struct TestErrors {
  double alpha = 0.01;        ///< of a false alarm in any of the workloads
  double beta = 0.2;          ///< of a miss: 0.2 is a power of 80 %
  std::size_t workloads = 1;  ///< that are tested together
};

/// The relative change (0.1 is 10 % slower) for which the verdict is FAIL with probability 1 -
/// beta: the greater of two. For the first, the test "not slower by more than epsilon" is
/// significant so often:
///     exp[ln(1 + epsilon) + (t(1 - alpha / workloads) + t(1 - beta)) deviation / sqrt(blocks)] - 1
/// with the quantiles of Student's t, blocks - 1 degrees of freedom. With robust_deviation,
/// simulated for normal noise, it is within 5 % of what the signed-rank test needs from 12 blocks
/// and 16 possible outcomes at that level on. With so few blocks that only one outcome has the
/// level, all differences above epsilon, it would be a fifth too small; then it is, if greater,
///     exp[ln(1 + epsilon) + z((1 - beta)^(1 / blocks)) deviation] - 1
/// with the quantile of the normal distribution; what else several workloads ask of that outcome,
/// that it stands out among the others' (sign_flip.hpp), the first formula covers. +infinity for
/// one block, and when no sign-flip test of so many blocks has that level: least_p(blocks) >=
/// alpha. For the second, the estimate reaches delta, which that of a change of just delta does
/// half of the time only:
///     exp[ln(1 + delta) + t(1 - beta) deviation / sqrt(blocks)] - 1
/// where delta is taken as epsilon when it is less.
[[nodiscard]] double minimum_failing_effect(double deviation, std::size_t blocks, double epsilon,
                                            double delta, const TestErrors& errors);

/// The least number of blocks after which a trial that ends there can fail anything at all: least_p
/// is below what last_look (sequential.hpp) has left of alpha. With workloads above 1, that many of
/// the 2^blocks sign patterns are, too: from there on a change need not be so great that it shows
/// in each block alike. Empty when no number is enough.
[[nodiscard]] std::optional<std::size_t> least_blocks(const TrialErrors& errors,
                                                      std::size_t workloads = 1);

/// About how many blocks end in a verdict with a probability of 80 %, if the effect (a log ratio)
/// and the deviation are what they seem and the trial ends after them: those at which an effect of
/// ln(1 + delta) or more is minimum_failing_effect, and those at which the margin of error of a
/// smaller one ends below ln(1 + delta), each at what last_look (sequential.hpp) has left. delta is
/// taken as epsilon when it is less. Empty when it takes more than a million, for the effect is too
/// near to the threshold. Throws for an effect that is not finite, too.
[[nodiscard]] std::optional<std::size_t> blocks_needed(double deviation, double effect,
                                                       double epsilon, double delta,
                                                       const TrialErrors& errors,
                                                       std::size_t workloads = 1);

}  // namespace taskbench::reports::stats
