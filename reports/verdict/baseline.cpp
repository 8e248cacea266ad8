#include "reports/verdict/baseline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "reports/stats/distributions.hpp"
#include "reports/stats/prediction.hpp"
#include "reports/stats/require.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::reports::verdict {
namespace {

using model::CanaryTimes;
using model::Series;
using model::SeriesProcess;

constexpr double kPower = 0.8;  // with which `detectable` is found, as in ab

/// What the median of normal values loses against their mean: its variance is larger by so much,
/// for few of them by less.
constexpr double kMedianVariance = std::numbers::pi / 2;

bool has(const Series& series, const std::string& name) {
  return std::ranges::find(series.setup.benchmarks, name) != series.setup.benchmarks.end();
}

std::vector<double> corrected(const Series& series, const std::string& name) {
  std::vector<double> x;
  for (const SeriesProcess& process : series.processes) {
    const double canary =
        (std::log(process.before.total_ns()) + std::log(process.after.total_ns())) / 2;
    x.push_back(std::log(process.real_ns.at(name)) - canary);
  }
  return x;
}

double median_ns(const Series& series, const std::string& name) {
  std::vector<double> times;
  for (const SeriesProcess& process : series.processes) times.push_back(process.real_ns.at(name));
  return stats::median(times);
}

/// Each pass once: what is after one process is before the next, unless a run was resumed there.
std::vector<CanaryTimes> passes(const Series& series) {
  std::vector<CanaryTimes> result;
  for (const SeriesProcess& process : series.processes) {
    if (result.empty() || result.back() != process.before) result.push_back(process.before);
    result.push_back(process.after);
  }
  return result;
}

/// By how much y may lie above the mean of the stored values where nothing has changed. The bound
/// of a single value: a series of another time differs by more than its own processes do.
double reach(const std::vector<double>& stored, double alpha) {
  return stats::prediction_bound(stored, alpha) - stats::mean(stored);
}

StoredComparison compare(const std::vector<double>& fresh, const std::vector<double>& stored,
                         double alpha, double delta, double pass_error) {
  StoredComparison result;
  result.stored = stored.size();
  result.fresh = fresh.size();
  const double effect = stats::median(fresh) - stats::mean(stored);
  const auto k = static_cast<double>(stored.size());
  const auto m = static_cast<double>(fresh.size());
  // Of one or two values the median is the mean.
  const double loss = fresh.size() > 2 ? kMedianVariance : 1;
  const double error = stats::standard_deviation(stored) * std::sqrt(1 / k + loss / m);
  const auto bound = [&](double level) { return stats::student_t_quantile(level, k - 1) * error; };
  const double both_sides = bound((1 + kIntervalLevel) / 2);
  const double matters = std::log1p(delta);
  const double limit = std::max(reach(stored, alpha), matters);
  result.change = std::expm1(effect);
  result.low = std::expm1(effect - both_sides);
  result.high = std::expm1(effect + both_sides);
  result.delta = delta;
  result.limit = std::expm1(limit);
  result.detectable = std::expm1(limit + bound(kPower));
  result.improved = effect < -limit;
  if (effect > limit) {
    result.verdict = Verdict::fail;
  } else if (result.improved || effect + reach(stored, pass_error) < matters) {
    result.verdict = Verdict::pass;
  }
  return result;
}

std::vector<CanaryChange> canary_changes(const Series& now, const Series& stored,
                                         const BaselinePolicy& policy) {
  using Part = double (*)(const CanaryTimes&);
  constexpr std::array<std::pair<const char*, Part>, 4> kParts{{
      {"all", [](const CanaryTimes& times) { return times.total_ns(); }},
      {"cpu", [](const CanaryTimes& times) { return times.cpu_ns; }},
      {"memory", [](const CanaryTimes& times) { return times.memory_ns; }},
      {"futex", [](const CanaryTimes& times) { return times.futex_ns; }},
  }};
  const auto logs = [](const Series& series, Part part) {
    std::vector<double> result;
    for (const CanaryTimes& times : passes(series)) result.push_back(std::log(part(times)));
    return result;
  };
  std::vector<CanaryChange> result;
  for (const auto& [name, part] : kParts) {
    const std::vector<double> then = logs(stored, part);
    const double effect = stats::median(logs(now, part)) - stats::mean(then);
    const double limit = std::max(reach(then, policy.alpha / 2), std::log1p(policy.delta));
    result.push_back({name, std::expm1(effect), std::expm1(limit), std::abs(effect) > limit});
  }
  return result;
}

bool same_processes(const Series& a, const Series& b) {
  return std::ranges::equal(
      a.processes, b.processes, [](const SeriesProcess& one, const SeriesProcess& two) {
        return one.before == two.before && one.after == two.after && one.real_ns == two.real_ns;
      });
}

/// The row's own verdict from those against both series.
void decide(BaselineRow& row, const BaselineReport& report) {
  row.verdict = row.rolling.verdict;
  row.improved = row.rolling.improved;
  if (row.verdict != Verdict::fail && row.anchor && !report.anchor_void &&
      row.anchor->verdict == Verdict::fail) {
    row.verdict = Verdict::fail;
    row.improved = false;
    row.drifted = true;
  }
  if (report.environment_moved) {
    row.verdict = Verdict::inconclusive;
    row.improved = row.drifted = false;
  }
}

Verdict overall(const std::vector<BaselineRow>& rows) {
  const auto any = [&](Verdict verdict) {
    return std::ranges::find(rows, verdict, &BaselineRow::verdict) != rows.end();
  };
  if (any(Verdict::fail)) return Verdict::fail;
  return rows.empty() || any(Verdict::inconclusive) ? Verdict::inconclusive : Verdict::pass;
}

}  // namespace

BaselineReport compare_with_baseline(const Series& now, const Series& rolling, const Series* anchor,
                                     const BaselinePolicy& policy) {
  stats::require(!now.processes.empty(), "comparison with a baseline: no fresh process");
  stats::require(rolling.processes.size() > 1, "comparison with a baseline: no stored processes");
  if (anchor != nullptr && (anchor->processes.size() < 2 || same_processes(*anchor, rolling))) {
    anchor = nullptr;
  }
  BaselineReport report;
  for (const std::string& name : rolling.setup.benchmarks) {
    if (!has(now, name)) {
      report.only_baseline.push_back(name);
      continue;
    }
    BaselineRow row;
    row.name = name;
    row.baseline_ns = median_ns(rolling, name);
    row.now_ns = median_ns(now, name);
    if (anchor != nullptr && has(*anchor, name)) row.anchor.emplace();
    report.rows.push_back(std::move(row));
  }
  for (const std::string& name : now.setup.benchmarks) {
    if (!has(rolling, name)) report.only_now.push_back(name);
  }
  for (const std::string& name : now.setup.unmeasured) report.only_now.push_back(name);
  if (report.rows.empty()) return report;

  report.canary = canary_changes(now, rolling, policy);
  report.environment_moved = report.canary.front().moved;
  if (anchor != nullptr) {
    report.anchor_canary = canary_changes(now, *anchor, policy);
    report.anchor_void = report.anchor_canary.front().moved;
  }
  // Bonferroni over all comparisons, those with the anchor among them. Holm would find a little
  // more, but then what a benchmark may fail at would depend on the others' results, and could not
  // be told beforehand.
  const auto anchored = std::ranges::count_if(
      report.rows, [](const BaselineRow& row) { return row.anchor.has_value(); });
  const double alpha =
      policy.alpha / static_cast<double>(report.rows.size() + static_cast<std::size_t>(anchored));
  for (BaselineRow& row : report.rows) {
    const std::vector<double> fresh = corrected(now, row.name);
    const auto floor = policy.noise_floors.find(row.name);
    const double delta = floor == policy.noise_floors.end()
                             ? policy.delta
                             : std::max(policy.delta, floor->second.epsilon);
    const auto against = [&](const Series& series) {
      return compare(fresh, corrected(series, row.name), alpha, delta, policy.pass_error);
    };
    row.rolling = against(rolling);
    if (row.anchor) row.anchor = against(*anchor);
    decide(row, report);
  }
  report.overall = overall(report.rows);
  return report;
}

}  // namespace taskbench::reports::verdict
