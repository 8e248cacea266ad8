// Judges one metric of all benchmarks of a paired trial at one look: the wall times, the CPU times,
// or another. Each metric is a family of its own, with its own chance of a false alarm. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "reports/stats/sequential.hpp"
#include "reports/stats/sign_flip.hpp"
#include "reports/verdict/decision.hpp"

namespace taskbench::reports::verdict {

/// What the first look that decided anything found, and after how many blocks.
struct LookDecision {
  Verdict verdict = Verdict::inconclusive;  ///< never inconclusive
  bool improved = false;
  int blocks = 0;
  double change = 0;  ///< over these blocks

  bool operator==(const LookDecision&) const = default;
};

/// What is known of one metric of one benchmark.
struct MetricVerdict {
  /// The verdict of `decided`, if the figures below bear it out; else inconclusive.
  Verdict verdict = Verdict::inconclusive;
  bool improved = false;                  ///< a PASS whose head needs less by what matters
  std::optional<LookDecision> decided{};  ///< empty: no look has decided anything
  int blocks = 0;                         ///< that the figures below rest on: all of its own
  /// Values per iteration whose ratio is the change, around the middle of both sides' medians.
  /// Times are in ns.
  double base = 0;
  double head = 0;
  /// How much more head needs, relative: 0.1 is 10 % slower. Hodges-Lehmann. Of a metric of which
  /// more is better, base over head, less 1.
  double change = 0;
  double interval_level = kIntervalLevel;
  /// Two-sided interval of `change`. Its level is over all looks together, so that it holds
  /// whenever the trial ends; empty if there are too few blocks for one. The upper end of a PASS
  /// lies below delta.
  std::optional<double> low;
  std::optional<double> high;
  double p = 1;           ///< of "not slower by more than epsilon"
  double p_adjusted = 1;  ///< `p` over all benchmarks (maxT)
  double alpha = 0;       ///< a FAIL needs a p_adjusted below this
  double epsilon = 0;     ///< the noise floor, relative
  double delta = 0;       ///< the smallest change that matters here: never below epsilon
  /// The relative change that a trial of this many blocks fails in four of five cases; empty if
  /// there are too few blocks for any.
  std::optional<double> detectable;
  /// About how many blocks lead to a verdict, if the change is what it seems; empty if no number
  /// does.
  std::optional<std::size_t> blocks_needed;

  bool operator==(const MetricVerdict&) const = default;
};

/// The values of one metric of one benchmark, over complete blocks.
struct MetricSeries {
  /// Of the logarithms, head less base, or base less head if more is better: one for each block.
  std::vector<double> differences;
  std::vector<double> base;  ///< of each process
  std::vector<double> head;
  double epsilon = 0;
  double delta = 0;
  bool more_is_better = false;
};

/// Level of the intervals that are shown: each end may be wrong with pass_error, over all looks.
[[nodiscard]] double interval_level_of(double pass_error);

/// How many benchmarks belong to the family without being among the series, because they were not
/// measured in all of their blocks (stats::sign_flip_test): those that have not failed, and those
/// that have not improved.
struct Absent {
  std::size_t slower = 0;
  std::size_t faster = 0;
};

/// A verdict for each series, with the errors that the look may spend. All series have the look's
/// number of blocks, and are of the same blocks. `outlying` is that of stats::sign_flip_test.
[[nodiscard]] std::vector<MetricVerdict> judge_metric(const std::vector<MetricSeries>& series,
                                                      const Absent& absent,
                                                      const stats::TrialErrors& errors,
                                                      std::uint64_t seed, const stats::Look& look,
                                                      double outlying = stats::kNothingOutlies);

/// Adopts the decision of an earlier look, if there is one. A later look never turns a decision
/// into its opposite; but if the figures of all blocks no longer bear it out, it is withdrawn, and
/// the verdict becomes inconclusive. `alpha` is that of the whole trial.
void keep_decision(const std::optional<LookDecision>& earlier, double alpha, MetricVerdict& row);

}  // namespace taskbench::reports::verdict
