#include "reports/verdict/baseline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>

#include "reports/model/lookup.hpp"
#include "reports/stats/distributions.hpp"
#include "reports/stats/prediction.hpp"
#include "reports/stats/require.hpp"

namespace taskbench::reports::verdict {
namespace {

using model::CanaryTimes;
using model::Series;
using model::SeriesProcess;

constexpr double kPower = 0.8;       // of `detectable`, as in ab
constexpr double kMostTaken = 0.99;  // share of a CPU
constexpr std::size_t kLeastForSpread = 4;
constexpr double kMiddleHalfOfNormal = 1.349;  // standard deviations
constexpr double kWiderThanChance = 2;         // by chance 1 in 30, with seven values and nine

/// The variance of the median of normal values over that of their mean; less for few values.
constexpr double kMedianVariance = std::numbers::pi / 2;

/// The variance between the levels of two series beyond the scatter of their processes, relative to
/// the variance of a process: 0 to 0.4, measured on a shared two-core machine. Half of it belongs
/// to the stored series, half to a round of fresh ones.
constexpr double kSeriesVariance = 0.25;

std::vector<double> corrected(const Series& series, const std::string& name) {
  return model::each_of(series.processes, [&](const SeriesProcess& process) {
    const double clock = (std::log(process.before.cpu_ns) + std::log(process.after.cpu_ns)) / 2;
    return std::log(process.real_ns.at(name)) - clock;
  });
}

double geometric_mean_ns(const Series& series, const std::string& name) {
  return std::exp(stats::mean(model::each_of(series.processes, [&](const SeriesProcess& process) {
    return std::log(process.real_ns.at(name));
  })));
}

/// Each pass of the canary once: the pass after a process is also the pass before the next, unless
/// a run was resumed there.
std::vector<CanaryTimes> passes(const Series& series) {
  std::vector<CanaryTimes> result;
  for (const SeriesProcess& process : series.processes) {
    if (result.empty() || result.back() != process.before) result.push_back(process.before);
    result.push_back(process.after);
  }
  return result;
}

/// The standard deviation of normal values with the same interquartile range.
double deviation_of_middle(std::span<const double> values) {
  return (stats::quantile(values, 0.75) - stats::quantile(values, 0.25)) / kMiddleHalfOfNormal;
}

/// How much more the fresh values scatter than the stored ones; 1 if chance explains it. Uses the
/// interquartile range, which is wide if values fall into two groups.
double widening(std::span<const double> fresh, const stats::Level& stored) {
  const double then = stored.deviation;
  if (fresh.size() < kLeastForSpread || then <= 0) return 1;
  const double now = deviation_of_middle(fresh);
  return now > kWiderThanChance * then ? now / then : 1;
}

/// The criteria of a comparison: first those shared by all benchmarks, then the others.
struct Rule {
  double alpha = 0;
  double delta = 0;
  double pass_error = 0;
  double explained = 0;  ///< log: possible slowdown from the CPUs that others took
  int rounds = 1;        ///< of fresh processes; from two on, two must show a failure
  /// Logs: how much slower, or faster, the machine may have made it, judging by the canary.
  double slower = 0;
  double faster = 0;
  bool may_fail = true;  ///< whether others leave the program its CPUs
  bool may_pass = true;
};

StoredComparison compare(std::span<const double> fresh, const stats::Level& stored,
                         const Rule& rule) {
  StoredComparison result;
  result.stored = static_cast<std::size_t>(stored.count);
  result.fresh = fresh.size();
  const double effect = stats::median(fresh) - stored.mean;
  const auto m = static_cast<double>(fresh.size());
  // The median of one or two values is the mean.
  const double loss = fresh.size() > 2 ? kMedianVariance : 1;
  const double wider = widening(fresh, stored);
  const double error = wider * stored.deviation * std::sqrt(1 / stored.count + loss / m);
  const auto bound = [&](double level) {
    return stats::student_t_quantile(level, stored.freedom) * error;
  };
  // The prediction limit of one value: a later series differs by more than its own processes.
  const auto reach = [&](double alpha) { return wider * stats::prediction_reach(stored, alpha); };
  const double both_sides = bound((1 + kIntervalLevel) / 2);
  const double matters = std::log1p(rule.delta);
  const double chance = std::max(reach(rule.alpha), matters + rule.explained);
  const double limit = chance + rule.slower;
  const double one = std::sqrt(1 + 1 / stored.count);
  const double levels = kSeriesVariance * (1 + 1.0 / rule.rounds) / 2;
  const double series = std::sqrt(1 / stored.count + loss / m + levels);
  const double highest = effect + reach(rule.pass_error) * std::min(1.0, series / one);
  result.change = std::expm1(effect);
  result.low = std::expm1(effect - both_sides);
  result.high = std::expm1(effect + both_sides);
  result.delta = rule.delta;
  result.limit = std::expm1(limit);
  result.detectable = std::expm1(limit + bound(rule.rounds > 1 ? std::sqrt(kPower) : kPower));
  result.improved = rule.may_pass && effect < -chance - rule.faster;
  if (rule.may_fail && effect > limit) {
    result.verdict = Verdict::fail;
  } else if (result.improved || (rule.may_pass && highest + rule.faster < matters)) {
    result.verdict = Verdict::pass;
  } else if (rule.slower > 0 || rule.faster > 0 || !rule.may_fail || !rule.may_pass) {
    const double alone = std::max(reach(rule.alpha), matters);
    result.masked = std::abs(effect) > alone || highest < matters;
  }
  return result;
}

/// Compares all processes, and those of each round. Fails only if two rounds fail.
StoredComparison compare_rounds(const std::vector<double>& fresh, const stats::Level& stored,
                                const Rule& rule, bool& unconfirmed) {
  StoredComparison all = compare(fresh, stored, rule);
  if (rule.rounds == 1 || all.verdict == Verdict::pass) return all;
  const std::size_t size = fresh.size() / static_cast<std::size_t>(rule.rounds);
  Rule of_one = rule;
  of_one.rounds = 1;
  int failed = 0;
  for (std::size_t first = 0; first < fresh.size(); first += size) {
    const auto round = std::span(fresh).subspan(first, size);
    failed += static_cast<int>(compare(round, stored, of_one).verdict == Verdict::fail);
  }
  if (failed == 1 || (failed == 0 && all.verdict == Verdict::fail)) {
    all.verdict = Verdict::inconclusive;
    all.masked = false;
    unconfirmed = true;
  }
  return all;
}

using CanaryPart = std::optional<double> (*)(const CanaryTimes&);

std::optional<double> handover(const CanaryTimes& times) { return times.handover_ns; }

constexpr std::array<std::pair<const char*, CanaryPart>, 4> kCanaryParts{{
    {"cpu", [](const CanaryTimes& times) { return std::optional(times.cpu_ns); }},
    {"memory", [](const CanaryTimes& times) { return std::optional(times.memory_ns); }},
    {"futex", [](const CanaryTimes& times) { return std::optional(times.futex_ns); }},
    {"handover", handover},
}};

/// The logarithms of a part of the canary, one per pass; empty on a machine without that part.
std::vector<double> canary_logs(const Series& series, CanaryPart part) {
  std::vector<double> result;
  for (const CanaryTimes& times : passes(series)) {
    if (const auto ns = part(times)) result.push_back(std::log(*ns));
  }
  return result;
}

std::vector<CanaryChange> canary_changes(const Series& now, const Series& stored,
                                         const BaselinePolicy& policy) {
  std::vector<CanaryChange> result;
  for (const auto& [name, part] : kCanaryParts) {
    const std::vector<double> then = canary_logs(stored, part);
    const std::vector<double> fresh = canary_logs(now, part);
    if (then.size() < 2 || fresh.empty()) continue;  // a machine with one CPU
    const stats::Level level = stats::level_of(then);
    const double effect = stats::median(fresh) - level.mean;
    const double limit =
        std::max(stats::prediction_reach(level, policy.alpha / 2), std::log1p(policy.delta));
    result.push_back({name, std::expm1(effect), std::expm1(std::copysign(limit, effect)),
                      std::abs(effect) > limit});
  }
  return result;
}

bool any_moved(const std::vector<CanaryChange>& changes) {
  return std::ranges::any_of(changes, &CanaryChange::moved);
}

/// Values beyond this many standard deviations, taken from the interquartile range, are clipped to
/// that: a disturbed process says little about how a benchmark follows the canary.
constexpr double kFarOff = 3;

std::vector<double> without_far_ones(std::vector<double> values) {
  const double middle = stats::median(values);
  const double far = kFarOff * deviation_of_middle(values);
  for (double& value : values) value = std::clamp(value, middle - far, middle + far);
  return values;
}

/// A part of the canary around each process of a series; empty on a machine without that part.
std::vector<double> around_processes(const Series& series, CanaryPart part) {
  std::vector<double> result;
  for (const SeriesProcess& process : series.processes) {
    const auto [before, after] = std::pair(part(process.before), part(process.after));
    if (!before || !after) return {};
    result.push_back((std::log(*before) + std::log(*after)) / 2);
  }
  return result;
}

/// How a benchmark follows a part of the canary, estimated from the processes of both series.
struct Following {
  double most = 1;   ///< the largest share of a part's move that the benchmark may make; 1 is all
  double range = 0;  ///< log: how far the part varied within one of the series
};

Following following(const Series& now, const Series& stored, const std::string& name,
                    CanaryPart part) {
  constexpr double kLevel = 0.975;
  constexpr double kAttenuation = 2;  // the passes around a process show half of its disturbance
  double parts = 0;
  double both = 0;
  double own = 0;
  double freedom = -1;
  Following result;
  for (const Series* series : {&now, &stored}) {
    const std::vector<double> c = around_processes(*series, part);
    if (c.empty()) return {};
    const std::vector<double> x = without_far_ones(corrected(*series, name));
    const double mean_x = stats::mean(x);
    const double mean_c = stats::mean(c);
    for (std::size_t i = 0; i < x.size(); ++i) {
      parts += (c[i] - mean_c) * (c[i] - mean_c);
      both += (c[i] - mean_c) * (x[i] - mean_x);
      own += (x[i] - mean_x) * (x[i] - mean_x);
    }
    freedom += static_cast<double>(x.size()) - 1;
    const auto [least, greatest] = std::ranges::minmax(c);
    result.range = std::max(result.range, greatest - least);
  }
  if (parts <= 0 || freedom < 1) return result;
  const double slope = both / parts;
  const double error = std::sqrt(std::max(0.0, own - slope * both) / freedom / parts);
  const double most = slope + stats::student_t_quantile(kLevel, freedom) * error;
  result.most = std::clamp(kAttenuation * most, 0.0, 1.0);
  return result;
}

/// The possible effect of the moved parts on a benchmark: of each move, the share that the
/// benchmark may follow, and all that exceeds the range in which the processes showed that share.
void add_machine(const Series& now, const Series& stored, const std::string& name,
                 const std::vector<CanaryChange>& changes, Rule& rule) {
  for (const CanaryChange& each : changes) {
    if (!each.moved) continue;
    const double move = std::log1p(each.change);
    const auto part = std::ranges::find(kCanaryParts, each.part,
                                        [](const auto& one) { return std::string(one.first); });
    if (part == kCanaryParts.begin()) {  // times are corrected by this part, perhaps too much
      rule.slower = std::max(rule.slower, std::abs(move));
      rule.faster = std::max(rule.faster, std::abs(move));
      continue;
    }
    const Following follows = following(now, stored, name, part->second);
    if (move > 0) {
      const double shown = std::min(move, follows.range);
      rule.slower = std::max(rule.slower, follows.most * shown + (move - shown));
    } else {
      rule.faster = std::max(rule.faster, -move * follows.most);
    }
  }
}

/// How many more CPUs others took now than then. Unknown values count as 0.
double taken_more(const model::Fact<Others>& now, const model::Fact<Others>& then) {
  return (now ? now->taken : 0) - (then ? then->taken : 0);
}

bool same_processes(const Series& a, const Series& b) {
  return std::ranges::equal(
      a.processes, b.processes, [](const SeriesProcess& one, const SeriesProcess& two) {
        return one.before == two.before && one.after == two.after && one.real_ns == two.real_ns;
      });
}

/// The verdict of a row from its comparisons with both series.
void decide_row(BaselineRow& row, const BaselineReport& report) {
  row.verdict = row.rolling.verdict;
  row.improved = row.rolling.improved;
  if (row.verdict != Verdict::fail && row.anchor && !report.anchor_void &&
      row.anchor->verdict == Verdict::fail) {
    row.verdict = Verdict::fail;
    row.improved = false;
    row.drifted = true;
  }
  row.masked = row.verdict == Verdict::inconclusive && row.rolling.masked;
  row.unconfirmed = row.unconfirmed && row.verdict == Verdict::inconclusive;
}

Verdict overall(const std::vector<BaselineRow>& rows) {
  const auto any = [&](Verdict of) { return model::contains(rows, of, &BaselineRow::verdict); };
  if (any(Verdict::fail)) return Verdict::fail;
  return rows.empty() || any(Verdict::inconclusive) ? Verdict::inconclusive : Verdict::pass;
}

/// Judges whether the machine is unchanged.
void judge_machine(const Series& now, const Series& rolling, const Series* anchor,
                   const BaselinePolicy& policy, BaselineReport& report) {
  const auto differ = [&](const model::Fact<Others>& then) {
    return !policy.allow_busy && std::abs(taken_more(report.others_now, then)) > kOthersCpus;
  };
  report.others_now = others_of(now);
  report.others_then = others_of(rolling);
  report.others_moved = differ(report.others_then);
  // Each part separately: if one rises and another falls, their sum does not show it.
  report.canary = canary_changes(now, rolling, policy);
  if (!policy.allow_busy) report.moved_cpus = moved_cpus(now);
  if (anchor == nullptr) return;
  report.anchor_canary = canary_changes(now, *anchor, policy);
  report.anchor_void = differ(others_of(*anchor)) || any_moved(report.anchor_canary);
}

}  // namespace

std::optional<double> place_of(const Series& series) {
  const std::vector<double> logs = canary_logs(series, handover);
  return logs.empty() ? std::nullopt : std::optional(std::exp(stats::mean(logs)));
}

bool was_at(std::optional<double> place_ns, const SeriesProcess& process) {
  const auto [before, after] = std::pair(process.before.handover_ns, process.after.handover_ns);
  if (!before || !after) return true;
  const double place = place_ns.value_or(std::sqrt(*before * *after));
  // Two passes this close to a place are close enough to each other for moved_cpus().
  const double nearest = std::log1p(kHandoverSpread) / 2;
  return std::abs(std::log(*before / place)) <= nearest &&
         std::abs(std::log(*after / place)) <= nearest;
}

std::optional<MovedCpus> moved_cpus(const Series& series) {
  std::vector<double> handovers;
  for (const CanaryTimes& times : passes(series)) {
    if (times.handover_ns) handovers.push_back(*times.handover_ns);
  }
  if (handovers.empty()) return std::nullopt;
  const auto [least, greatest] = std::ranges::minmax(handovers);
  if (greatest <= least * (1 + kHandoverSpread)) return std::nullopt;
  return MovedCpus{least, greatest};
}

model::Fact<Others> others_of(const Series& series) {
  return others_of(model::each_of(series.processes, &SeriesProcess::use));
}

std::vector<std::string> blind_rows(const BaselineReport& report, double delta) {
  std::vector<std::string> names;
  for (const BaselineRow& row : report.rows) {
    if (is_blind(row.verdict, row.rolling.detectable, row.rolling.high, delta))
      names.push_back(row.name);
  }
  return names;
}

BaselineReport compare_with_baseline(const Series& now, const Series& rolling, const Series* anchor,
                                     const BaselinePolicy& policy) {
  stats::require(!now.processes.empty(), "comparison with a baseline: no fresh process");
  stats::require(rolling.processes.size() > 1, "comparison with a baseline: no stored processes");
  if (anchor != nullptr && (anchor->processes.size() < 2 || same_processes(*anchor, rolling))) {
    anchor = nullptr;
  }
  BaselineReport report;
  for (const std::string& name : rolling.setup.benchmarks) {
    if (!model::contains(now.setup.benchmarks, name)) {
      report.only_baseline.push_back(name);
      continue;
    }
    BaselineRow row;
    row.name = name;
    row.baseline_ns = geometric_mean_ns(rolling, name);
    if (anchor != nullptr && model::contains(anchor->setup.benchmarks, name)) row.anchor.emplace();
    report.rows.push_back(std::move(row));
  }
  for (const std::string& name : now.setup.benchmarks) {
    if (!model::contains(rolling.setup.benchmarks, name)) report.only_now.push_back(name);
  }
  for (const std::string& name : now.setup.unmeasured) report.only_now.push_back(name);
  if (report.rows.empty()) return report;

  // Unfinished rounds are not judged separately.
  report.rounds = now.complete() ? now.rounds : 1;
  judge_machine(now, rolling, anchor, policy, report);
  // Bonferroni's correction over all comparisons, including those with the anchor. Holm's would
  // find a little more, but the limit of a benchmark would then depend on the others' results and
  // could not be known in advance.
  const auto anchored = std::ranges::count_if(
      report.rows, [](const BaselineRow& row) { return row.anchor.has_value(); });
  const double alpha =
      policy.alpha / static_cast<double>(report.rows.size() + static_cast<std::size_t>(anchored));
  for (BaselineRow& row : report.rows) {
    const std::vector<double> fresh = corrected(now, row.name);
    const model::NoiseFloor* const floor = model::find_in(policy.noise_floors, row.name);
    const double delta = std::max(policy.delta, floor == nullptr ? 0 : floor->epsilon);
    const auto against = [&](const Series& series, bool& unconfirmed) {
      const double more = taken_more(report.others_now, others_of(series));
      Rule rule{
          .alpha = alpha,
          .delta = delta,
          .pass_error = policy.pass_error,
          .explained = policy.allow_busy ? 0 : -std::log1p(-std::clamp(more, 0.0, kMostTaken)),
          .rounds = report.rounds};
      if (&series == &rolling) {  // an anchor of another machine is void anyway
        add_machine(now, rolling, row.name, report.canary, rule);
        rule.may_fail = !report.others_moved;
        rule.may_pass = !report.others_moved || more > 0;
      }
      const stats::Level stored = stats::level_of(corrected(series, row.name));
      return compare_rounds(fresh, stored, rule, unconfirmed);
    };
    row.rolling = against(rolling, row.unconfirmed);
    row.now_ns = row.baseline_ns * (1 + row.rolling.change);
    bool of_anchor = false;  // shown or a failure, but no reason for an undecided row
    if (row.anchor) row.anchor = against(*anchor, of_anchor);
    decide_row(row, report);
  }
  report.overall = overall(report.rows);
  report.environment_moved = report.overall == Verdict::inconclusive &&
                             std::ranges::any_of(report.rows, &BaselineRow::masked);
  return report;
}

std::vector<std::pair<std::string, stats::Spread>> spreads_of(const Series& series) {
  std::vector<std::pair<std::string, stats::Spread>> rows;
  const auto add = [&](const std::string& name, const std::vector<double>& values) {
    if (const auto spread = stats::spread_of(values)) rows.emplace_back(name, *spread);
  };
  for (const std::string& name : series.setup.benchmarks) {
    const auto time_of = [&](const SeriesProcess& process) { return process.real_ns.at(name); };
    add(name, model::each_of(series.processes, time_of));
  }
  for (const auto& [part, time_of] : kCanaryParts) {
    std::vector<double> values;
    for (const SeriesProcess& process : series.processes) {
      for (const CanaryTimes& times : {process.before, process.after}) {
        if (const auto ns = time_of(times)) values.push_back(*ns);
      }
    }
    const bool always = values.size() == 2 * series.processes.size();
    if (always) add(fmt::format("canary: {}", part), values);
  }
  return rows;
}

}  // namespace taskbench::reports::verdict
