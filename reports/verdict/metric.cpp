#include "reports/verdict/metric.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "reports/stats/distributions.hpp"
#include "reports/stats/heterogeneity.hpp"
#include "reports/stats/power.hpp"
#include "reports/stats/summary.hpp"
#include "reports/stats/walsh.hpp"

namespace taskbench::reports::verdict {
namespace {

/// Stores values whose ratio is the change. The ratio of the sides' medians is a different estimate
/// from the paired one, and may even contradict its sign.
void store_levels(const MetricSeries& series, double effect, MetricVerdict& row) {
  const double middle =
      (std::log(stats::median(series.base)) + std::log(stats::median(series.head))) / 2;
  const double half = (series.more_is_better ? -effect : effect) / 2;
  row.base = std::exp(middle - half);
  row.head = std::exp(middle + half);
}

/// The distance of an interval's end from the effect, with what the layouts leave open. Both errors
/// are of independent causes, so their squares are added.
double with_layouts(double distance, const MetricSeries& series) {
  return std::hypot(distance, series.layout_error);
}

/// Stores an interval with the errors that the look may spend at each end, so that the errors of
/// all looks add up to that of the stated level: the end of a trial depends on its data.
void store_interval(const MetricSeries& series, double effect, double pass_error,
                    MetricVerdict& row) {
  if (pass_error <= 0) return;
  const auto interval =
      stats::confidence_interval(series.differences, interval_level_of(pass_error));
  if (std::isinf(interval.low)) return;
  row.low = finite_change(effect - with_layouts(effect - interval.low, series));
  row.high = finite_change(effect + with_layouts(interval.high - effect, series));
}

/// The errors that looks share; of a merged trial those of this look, since earlier rounds may have
/// spent some.
stats::TrialErrors errors_at_end(stats::TrialErrors errors, const stats::Look& look) {
  if (!errors.at_once) return errors;
  if (look.alpha > 0) errors.alpha = look.alpha;
  if (look.pass_error > 0) errors.pass_error = look.pass_error;
  return errors;
}

/// Stores the power of a trial that ends after this many blocks, as defined for `detectable`.
void store_power(const MetricSeries& series, double effect, const stats::TrialErrors& errors,
                 std::size_t workloads, MetricVerdict& row) {
  const std::size_t blocks = series.differences.size();
  if (blocks < 2) return;
  const double deviation = stats::robust_deviation(series.differences);
  const stats::Look end = stats::last_look(blocks, errors);
  if (end.alpha <= 0) return;  // the trial may not have this many blocks
  row.detectable = finite(stats::minimum_failing_effect(
      deviation, blocks, row.epsilon, row.delta, {.alpha = end.alpha, .workloads = workloads}));
  // For a PASS, blocks have to narrow the interval to what the layouts leave of it, as if the
  // effect were that much nearer to the threshold.
  const double matters = std::log1p(row.delta);
  const double room = matters - effect;
  double nearer = effect;
  if (room > 0 && series.layout_error > 0) {
    if (series.layout_error >= room) return;
    nearer = matters - std::sqrt(room * room - series.layout_error * series.layout_error);
  }
  row.blocks_needed =
      stats::blocks_needed(deviation, nearer, row.epsilon, row.delta, errors, workloads);
}

}  // namespace

double layout_error(const std::vector<double>& differences, const std::vector<std::size_t>& layouts,
                    double pass_error) {
  std::map<std::size_t, std::vector<double>> own;  // by layout
  for (std::size_t i = 0; i < differences.size(); ++i) own[layouts[i]].push_back(differences[i]);
  if (own.size() < 2 || differences.size() <= own.size()) return 0;
  // The estimate does not follow outliers, and so neither do the means of the layouts.
  constexpr double kFar = 3;
  // Blocks of which one may be an outlier without moving their median far.
  constexpr std::size_t kLeastForMedian = 3;
  // Of the error, so that with that of the blocks it is all: simulated in docs/adr/0054.
  constexpr double kShareOfLayouts = 0.7;
  const double centre = stats::hodges_lehmann(differences);
  const double far = kFar * stats::robust_deviation(differences);
  double least = centre - far;
  double greatest = centre + far;
  // The deviation of two or three layouts that lie far apart is that of the means between them, and
  // does not reach the layouts.
  for (const auto& [layout, of_layout] : own) {
    if (of_layout.size() < kLeastForMedian) continue;
    const double middle = stats::median(of_layout);
    least = std::min(least, middle);
    greatest = std::max(greatest, middle);
  }
  std::vector<double> row;
  for (const double each : differences) row.push_back(std::clamp(each, least, greatest));
  const auto count = static_cast<double>(own.size());
  const double quantile = stats::student_t_quantile(1 - kShareOfLayouts * pass_error, count - 1);
  return std::max(0.0, quantile) * stats::deviation_between(row, layouts) / std::sqrt(count);
}

double interval_level_of(double pass_error) { return 1 - 2 * pass_error; }

std::vector<MetricVerdict> judge_metric(const std::vector<MetricSeries>& series,
                                        const Absent& absent, const stats::TrialErrors& errors,
                                        std::uint64_t seed, const stats::Look& look,
                                        double outlying) {
  if (series.empty()) return {};
  std::vector<std::vector<double>> d;
  std::vector<double> shifts;
  for (const MetricSeries& each : series) {
    d.push_back(each.differences);
    shifts.push_back(std::log1p(each.epsilon));
  }
  const auto slower =
      stats::sign_flip_test(d, shifts, stats::Direction::slower, seed, absent.slower, outlying);
  const auto faster =
      stats::sign_flip_test(d, shifts, stats::Direction::faster, seed, absent.faster, outlying);
  std::vector<MetricVerdict> rows;
  for (std::size_t i = 0; i < series.size(); ++i) {
    MetricVerdict row;
    row.blocks = static_cast<int>(look.blocks);
    row.epsilon = series[i].epsilon;
    row.delta = std::max(series[i].delta, row.epsilon);
    row.alpha = look.alpha;
    row.interval_level = interval_level_of(errors.pass_error);
    const double effect = stats::hodges_lehmann(d[i]);
    row.change = std::expm1(effect);
    store_levels(series[i], effect, row);
    store_interval(series[i], effect, look.pass_error, row);
    row.layout_error = std::expm1(series[i].layout_error);
    row.p = slower.p[i];
    row.p_adjusted = slower.p_adjusted[i];
    store_power(series[i], effect, errors_at_end(errors, look), series.size() + absent.slower, row);
    const double upper_bound = look.pass_error > 0 ? stats::upper_bound(d[i], look.pass_error)
                                                   : std::numeric_limits<double>::infinity();
    const Decision decision =
        decide({.effect = effect,
                .p_slower_adjusted = slower.p_adjusted[i],
                .p_faster_adjusted = faster.p_adjusted[i],
                .upper_bound = effect + with_layouts(upper_bound - effect, series[i])},
               {.epsilon = row.epsilon, .delta = row.delta, .alpha = look.alpha});
    row.verdict = decision.verdict;
    row.improved = decision.improved;
    if (row.verdict != Verdict::inconclusive) {
      row.decided = {row.verdict, row.improved, row.blocks, row.change};
    }
    rows.push_back(row);
  }
  return rows;
}

void keep_decision(const std::optional<LookDecision>& earlier, double alpha, MetricVerdict& row) {
  if (!earlier) return;
  row.decided = earlier;
  const bool is_slower = row.change >= row.delta && row.p_adjusted < alpha;
  const bool is_not_slower = row.high && *row.high < row.delta;
  const bool stands = earlier->verdict == Verdict::fail ? is_slower : is_not_slower;
  row.verdict = stands ? earlier->verdict : Verdict::inconclusive;
  row.improved = stands && earlier->improved && *row.high < 0 &&
                 std::log1p(row.change) <= -std::log1p(row.delta);
}

}  // namespace taskbench::reports::verdict
