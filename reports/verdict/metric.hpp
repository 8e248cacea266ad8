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

/// The finding of the first look with a decision, and its number of blocks.
struct LookDecision {
  Verdict verdict = Verdict::inconclusive;  ///< never inconclusive
  bool improved = false;
  int blocks = 0;
  double change = 0;  ///< over these blocks

  bool operator==(const LookDecision&) const = default;
};

/// The results for one metric of one benchmark.
struct MetricVerdict {
  /// The verdict of `decided`, if the figures below confirm it; otherwise inconclusive.
  Verdict verdict = Verdict::inconclusive;
  bool improved = false;                  ///< a PASS in which head needs less by at least delta
  std::optional<LookDecision> decided{};  ///< empty: no look has decided yet
  int blocks = 0;                         ///< that the figures below rest on: all of its own
  /// Values per iteration whose ratio is the change, around the middle of both sides' medians.
  /// Times are in ns.
  double base = 0;
  double head = 0;
  /// How much more head needs, relative: 0.1 is 10 % slower. Hodges-Lehmann. If more of the metric
  /// is better, base over head, less 1.
  double change = 0;
  double interval_level = kIntervalLevel;
  /// Two-sided confidence interval of `change`. Its level covers all looks together, so that it
  /// holds whenever the trial ends; empty if there are too few blocks for one. The upper end of a
  /// PASS is below delta.
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
  /// What the layouts that took turns leave open at each end of the interval, as a relative change:
  /// layout_error(). 0 if they do not differ.
  double layout_error = 0;
  /// Approximate number of blocks that lead to a verdict, if the true change is the measured one;
  /// empty if no number does.
  std::optional<std::size_t> blocks_needed;

  /// Whether no number of blocks leads to a PASS, as the layouts alone leave open what matters.
  [[nodiscard]] bool needs_layouts() const {
    return change < delta && (1 + change) * (1 + layout_error) >= 1 + delta;
  }

  bool operator==(const MetricVerdict&) const = default;
};

/// The values of one metric of one benchmark over complete blocks.
struct MetricSeries {
  /// Of logarithms, one per block: head less base, or base less head if more is better.
  std::vector<double> differences;
  std::vector<double> base;  ///< of each process
  std::vector<double> head;
  double epsilon = 0;
  double delta = 0;
  bool more_is_better = false;
  double layout_error = 0;  ///< see layout_error()
};

/// By how much the mean of all layouts that there could be may exceed that of those which took
/// turns, as the difference of logarithms. Added to the margin of the blocks, it leaves a chance of
/// `pass_error` over all looks, whose layouts are the same. More blocks do not narrow it, but more
/// layouts do. 0 if their differences are no greater than the scatter of blocks explains. `layouts`
/// has the layout of each block.
[[nodiscard]] double layout_error(const std::vector<double>& differences,
                                  const std::vector<std::size_t>& layouts, double pass_error);

/// Level of the intervals in reports: each end may be wrong with pass_error, over all looks.
[[nodiscard]] double interval_level_of(double pass_error);

/// Number of benchmarks that belong to the family but not to the series, because they were not
/// measured in all of its blocks (stats::sign_flip_test): those that have not failed, and those
/// that have not improved.
struct Absent {
  std::size_t slower = 0;
  std::size_t faster = 0;
};

/// A verdict for each series, with the errors that the look may spend. All series have the same
/// blocks, as many as the look. `outlying` is that of stats::sign_flip_test.
[[nodiscard]] std::vector<MetricVerdict> judge_metric(const std::vector<MetricSeries>& series,
                                                      const Absent& absent,
                                                      const stats::TrialErrors& errors,
                                                      std::uint64_t seed, const stats::Look& look,
                                                      double outlying = stats::kNothingOutlies);

/// Adopts the decision of an earlier look, if there is one. A later look never turns a decision
/// into its opposite; but if the figures of all blocks no longer confirm it, it is withdrawn, and
/// the verdict becomes inconclusive. `alpha` is that of the whole trial.
void keep_decision(const std::optional<LookDecision>& earlier, double alpha, MetricVerdict& row);

}  // namespace taskbench::reports::verdict
