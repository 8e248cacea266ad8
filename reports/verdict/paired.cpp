#include "reports/verdict/paired.hpp"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <set>
#include <span>
#include <utility>

#include "reports/model/lookup.hpp"
#include "reports/model/run.hpp"
#include "reports/stats/heterogeneity.hpp"
#include "reports/stats/power.hpp"
#include "reports/stats/sequential.hpp"
#include "reports/stats/sign_flip.hpp"
#include "reports/stats/summary.hpp"
#include "reports/stats/walsh.hpp"
#include "reports/verdict/counted.hpp"
#include "reports/verdict/drift.hpp"

namespace taskbench::reports::verdict {
namespace {

using model::PairedTrial;
using model::Side;

constexpr const char* kCpuTime = "cpu_ns";  // among a sample's counters

using Numbers = std::vector<std::size_t>;

bool is_merged(const PairedTrial& trial) { return !trial.setup.parts.empty(); }

stats::TrialErrors errors_of(const PairedTrial& trial) {
  return {trial.setup.alpha, trial.setup.pass_error,
          static_cast<std::size_t>(trial.setup.max_blocks), is_merged(trial)};
}

std::optional<double> wall_time(const model::ProcessSample& sample, const std::string& benchmark) {
  return sample.real_ns.at(benchmark);
}

std::optional<double> counter_of(const model::ProcessSample& sample, const std::string& benchmark,
                                 const char* name) {
  const auto* const counters = model::find_in(sample.counters, benchmark);
  const double* const value = counters == nullptr ? nullptr : model::find_in(*counters, name);
  return value == nullptr ? std::nullopt : finite(*value);
}

/// The CPU time; empty unless it is above 0, since 0 has no logarithm.
std::optional<double> cpu_time(const model::ProcessSample& sample, const std::string& benchmark) {
  const auto cpu_ns = counter_of(sample, benchmark, kCpuTime);
  return cpu_ns > 0.0 ? cpu_ns : std::nullopt;
}

/// The complete blocks that have measured a benchmark.
Numbers blocks_with(const PairedTrial& trial, const std::string& benchmark) {
  Numbers blocks;
  for (std::size_t i = 0; i < static_cast<std::size_t>(complete_blocks(trial)); ++i) {
    if (trial.samples[i * model::kBlockSize].real_ns.contains(benchmark)) blocks.push_back(i);
  }
  return blocks;
}

/// The samples of these blocks.
auto samples_of(const PairedTrial& trial, std::span<const std::size_t> blocks) {
  constexpr auto kSize = static_cast<std::size_t>(model::kBlockSize);
  return std::views::iota(std::size_t{0}, blocks.size() * kSize) |
         std::views::transform([&trial, blocks](std::size_t i) -> const model::ProcessSample& {
           return trial.samples[blocks[i / kSize] * kSize + i % kSize];
         });
}

/// The ratio of base's wanted time to its CPU time, 1 or more: sleep counts, waiting for a CPU does
/// not. 1 if in doubt: if a process does not report how long it waited, as in older journals, the
/// load of other processes would be mistaken for sleep.
double wanted_per_cpu_time(const PairedTrial& trial, const std::string& benchmark,
                           std::span<const std::size_t> blocks) {
  std::vector<double> shares;
  for (const model::ProcessSample& sample : samples_of(trial, blocks)) {
    if (sample.side != Side::base) continue;
    const auto cpu_ns = cpu_time(sample, benchmark);
    const auto queued_ns = counter_of(sample, benchmark, model::kQueuedTime);
    if (!cpu_ns || !queued_ns) return 1;
    shares.push_back((*wall_time(sample, benchmark) - std::max(0.0, *queued_ns)) / *cpu_ns);
  }
  return std::max(1.0, stats::median(shares));
}

/// A family of tests that are judged together: one metric of all benchmarks that report it.
struct Family {
  enum class Of { wall_time, cpu_time, asked_for };
  Of of = Of::wall_time;
  const model::JudgedMetric* asked_for = nullptr;

  [[nodiscard]] bool has(const model::PairedSetup& setup, const std::string& benchmark) const {
    if (of == Of::asked_for) return asked_for->of.contains(benchmark);
    return of == Of::wall_time || setup.cpu_time_of.contains(benchmark);
  }

  /// Empty unless it is above 0, since 0 has no logarithm.
  [[nodiscard]] std::optional<double> value(const model::ProcessSample& sample,
                                            const std::string& benchmark) const {
    if (of == Of::wall_time) return wall_time(sample, benchmark);
    if (of == Of::cpu_time) return cpu_time(sample, benchmark);
    const auto counted = counter_of(sample, benchmark, asked_for->name.c_str());
    return counted > 0.0 ? counted : std::nullopt;
  }

  /// The verdict on this metric in a row; nullptr if there is none.
  [[nodiscard]] const MetricVerdict* verdict_in(const BenchmarkVerdict& row) const {
    if (of == Of::wall_time) return &row;
    if (of == Of::cpu_time) return row.cpu ? &*row.cpu : nullptr;
    return model::element_of(row.judged, asked_for->name, &JudgedVerdict::metric);
  }

  void put(const MetricVerdict& verdict, BenchmarkVerdict& row) const {
    if (of == Of::wall_time) {
      static_cast<MetricVerdict&>(row) = verdict;
    } else if (of == Of::cpu_time) {
      row.cpu = verdict;
    } else {
      row.judged.push_back({verdict, asked_for->name, asked_for->more_is_better});
    }
  }
};

constexpr Family kWallTimes{};

std::vector<Family> families_of(const model::PairedSetup& setup) {
  std::vector<Family> families{kWallTimes, {Family::Of::cpu_time}};
  for (const model::JudgedMetric& each : setup.judged) {
    families.push_back({Family::Of::asked_for, &each});
  }
  return families;
}

/// A metric of one benchmark; empty if a process has no value.
std::optional<MetricSeries> series_of(const PairedTrial& trial, const std::string& benchmark,
                                      std::span<const std::size_t> blocks, const Family& family) {
  MetricSeries series;
  series.more_is_better = family.of == Family::Of::asked_for && family.asked_for->more_is_better;
  for (const model::ProcessSample& sample : samples_of(trial, blocks)) {
    const std::optional<double> each = family.value(sample, benchmark);
    if (!each) return std::nullopt;
    if (sample.position == 0) series.differences.push_back(0);
    const bool of_head = sample.side == Side::head;
    const double x = std::log(*each) / 2;
    series.differences.back() += of_head != series.more_is_better ? x : -x;
    (of_head ? series.head : series.base).push_back(*each);
  }
  return series;
}

/// Sets the noise floor, and the smallest change that matters.
void set_thresholds(const PairedTrial& trial, const std::string& benchmark,
                    std::span<const std::size_t> blocks, const Family& family,
                    MetricSeries& series) {
  series.epsilon = trial.setup.noise_floors.at(benchmark).epsilon;
  series.delta = trial.setup.delta;
  if (family.of == Family::Of::cpu_time) {
    series.delta *= wanted_per_cpu_time(trial, benchmark, blocks);
  } else if (family.of == Family::Of::asked_for) {
    const Thresholds asked_for =
        thresholds_asked_for(family.asked_for->delta, series.more_is_better, series.epsilon);
    series.epsilon = asked_for.epsilon;
    series.delta = asked_for.delta;
  }
}

/// What the layouts that took turns leave open of a series. Sides with equally many layouts have
/// the same turns; otherwise those of each side count by themselves.
double layout_error_of(const PairedTrial& trial, std::span<const std::size_t> blocks,
                       const std::vector<double>& differences) {
  std::map<Side, Numbers> layouts;
  std::map<Side, std::size_t> last;
  for (const model::ProcessSample& sample : samples_of(trial, blocks)) {
    last[sample.side] = static_cast<std::size_t>(sample.layout);
    if (sample.position + 1 < model::kBlockSize) continue;
    for (const auto& [side, layout] : last) layouts[side].push_back(layout);
  }
  const double of_base = layout_error(differences, layouts[Side::base], trial.setup.pass_error);
  if (layouts[Side::base] == layouts[Side::head]) return of_base;
  return std::hypot(of_base,
                    layout_error(differences, layouts[Side::head], trial.setup.pass_error));
}

std::vector<CounterMove> moved_counters(const PairedTrial& trial,
                                        std::span<const std::size_t> blocks,
                                        const std::string& benchmark) {
  CounterValues base;
  CounterValues head;
  for (const model::ProcessSample& sample : samples_of(trial, blocks)) {
    const auto* const counters = model::find_in(sample.counters, benchmark);
    if (counters == nullptr) continue;
    CounterValues& side = sample.side == Side::base ? base : head;
    for (const auto& [name, value] : *counters) {
      // A process with an unknown waiting time gives only a bound here.
      if (name != model::kQueuedTime) side[name].push_back(value);
    }
  }
  const auto iterations = model::value_at(trial.setup.iterations, benchmark);
  return most_moved(base, head, 1, resolution_of(iterations.value_or(0)));
}

/// Benchmarks that were measured in the same blocks, the last of which brought them to a look.
struct Judgement {
  stats::Look look;
  Numbers benchmarks;  ///< indices in the setup
  Numbers blocks;
};

/// Groups the benchmarks of the last block by the earlier blocks that measured them. `histories`
/// has the number of such a history for each benchmark.
std::map<std::size_t, Numbers> groups_of(const PairedTrial& trial, std::size_t block,
                                         const Numbers& histories) {
  const auto& measured = trial.samples[block * model::kBlockSize].real_ns;
  std::map<std::size_t, Numbers> groups;
  for (std::size_t i = 0; i < histories.size(); ++i) {
    if (measured.contains(trial.setup.benchmarks[i])) groups[histories[i]].push_back(i);
  }
  return groups;
}

/// All judgements of the trial, in the order of its blocks. If the trial's end did not depend on a
/// benchmark's results, those that were measured until then spend what is left of their errors. It
/// is not an end for benchmarks that had left or given way to others.
std::vector<Judgement> judgements_of(const PairedTrial& trial) {
  const auto blocks = static_cast<std::size_t>(complete_blocks(trial));
  const bool ends = trial.end && *trial.end != model::TrialEnd::decided;
  const stats::TrialErrors errors = errors_of(trial);
  const std::vector<stats::Look> looks = stats::looks(errors);
  std::vector<Judgement> result;
  Numbers histories(trial.setup.benchmarks.size(), 0);
  std::vector<Numbers> blocks_of{{}};  // by history
  for (std::size_t block = 0; block < blocks; ++block) {
    for (const auto& [history, members] : groups_of(trial, block, histories)) {
      blocks_of.push_back(blocks_of[history]);
      Numbers& own = blocks_of.back();
      own.push_back(block);
      for (const std::size_t each : members) histories[each] = blocks_of.size() - 1;
      const auto look = std::ranges::find(looks, own.size(), &stats::Look::blocks);
      if (ends && block + 1 == blocks) {
        result.push_back({stats::last_look(own.size(), errors), members, own});
      } else if (look != looks.end()) {
        result.push_back({*look, members, own});
      }
    }
  }
  return result;
}

/// The observations that the verdict of a trial rests on.
struct Observed {
  model::Unit unit = model::Unit::block;
  std::vector<Machine> machines{};  ///< for a merged trial
  Numbers machine_of_block{};       ///< for a merged trial

  /// The machines of these blocks; empty unless the trial is merged.
  [[nodiscard]] Numbers machines_of(const Numbers& blocks) const {
    Numbers result;
    if (machines.empty()) return result;
    for (const std::size_t block : blocks) result.push_back(machine_of_block[block]);
    return result;
  }
  /// The number of observations in these blocks.
  [[nodiscard]] std::size_t count(const Numbers& blocks) const {
    if (unit == model::Unit::block) return blocks.size();
    const Numbers those = machines_of(blocks);
    return std::set<std::size_t>(those.begin(), those.end()).size();
  }
};

/// The benchmarks of a merged trial, grouped by which of the first `most` blocks measured them.
std::map<Numbers, Numbers> groups_within(const PairedTrial& trial, std::size_t most) {
  std::map<Numbers, Numbers> groups;
  for (std::size_t i = 0; i < trial.setup.benchmarks.size(); ++i) {
    Numbers blocks = blocks_with(trial, trial.setup.benchmarks[i]);
    std::erase_if(blocks, [&](std::size_t block) { return block >= most; });
    if (!blocks.empty()) groups[std::move(blocks)].push_back(i);
  }
  return groups;
}

/// The number of blocks in the first `rounds` rounds of a merged trial, and whether each part has
/// that many.
std::pair<std::size_t, bool> within_rounds(const PairedTrial& trial, int rounds) {
  std::map<int, int> blocks_of;
  for (const model::TrialPart& part : trial.setup.parts) blocks_of[part.number] = 0;
  std::size_t within = 0;
  for (std::size_t i = 0; i < trial.samples.size(); i += model::kBlockSize) {
    within += ++blocks_of[trial.samples[i].part] <= rounds ? 1U : 0U;
  }
  return {within, std::ranges::all_of(
                      blocks_of, [&](const auto& of_part) { return of_part.second >= rounds; })};
}

/// All judgements of a merged trial: one after each round but the last, and one at the end, with
/// the remaining errors. The time of a look does not depend on the order of the parts: it waits for
/// the slowest.
std::vector<Judgement> judgements_of_merged(const PairedTrial& trial, const Observed& observed) {
  const auto all = static_cast<std::size_t>(complete_blocks(trial));
  const auto rounds = static_cast<std::size_t>(std::max(1, trial.setup.rounds));
  const auto parts = static_cast<std::size_t>(trial.setup.parts.front().of);
  std::vector<std::size_t> counts;
  for (std::size_t round = 1; round <= rounds; ++round) {
    counts.push_back(observed.unit == model::Unit::block ? parts * round
                                                         : observed.machines.size());
  }
  const std::vector<stats::Look> looks = stats::looks_at(counts, errors_of(trial));
  std::vector<Judgement> result;
  const auto judge_within = [&](std::size_t blocks, const stats::Look& look) {
    for (const auto& [own, benchmarks] : groups_within(trial, blocks)) {
      result.push_back({{own.size(), look.alpha, look.pass_error}, benchmarks, own});
    }
  };
  stats::Look left{all, trial.setup.alpha, trial.setup.pass_error};
  for (std::size_t round = 1; round < rounds; ++round) {
    const auto [within, is_reached] = within_rounds(trial, static_cast<int>(round));
    if (!is_reached || (trial.end && within == all)) break;
    const stats::Look& look = looks[round - 1];
    left.alpha -= look.alpha;
    left.pass_error -= look.pass_error;
    judge_within(within, look);
  }
  if (trial.end && all > 0) judge_within(all, left);
  return result;
}

/// The rows of a report under construction, by index in the setup; empty before the first look.
using Rows = std::vector<std::optional<BenchmarkVerdict>>;

/// The benchmarks that belong to the family but are not judged now. Failed benchmarks have left the
/// family of those that may be slower, improved ones the family of those that may be faster.
Absent absent_from(const PairedTrial& trial, const Judgement& now, const Rows& rows,
                   const Family& family) {
  Absent absent;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (std::ranges::binary_search(now.benchmarks, i)) continue;
    if (!family.has(trial.setup, trial.setup.benchmarks[i])) continue;
    const MetricVerdict* const row = rows[i] ? family.verdict_in(*rows[i]) : nullptr;
    if (row == nullptr || row->verdict != Verdict::fail) ++absent.slower;
    if (row == nullptr || !row->improved) ++absent.faster;
  }
  return absent;
}

/// Judges a family of the benchmarks that are due, with the errors that their look may spend.
/// `earlier` has the results so far, `rows` takes the new ones.
void judge_family(const PairedTrial& trial, const Observed& observed, const Judgement& now,
                  const Family& family, const Rows& earlier, std::vector<BenchmarkVerdict>& rows) {
  const auto& setup = trial.setup;
  const Numbers machines = observed.machines_of(now.blocks);
  std::vector<MetricSeries> series;
  Numbers places;  // in `rows`
  for (std::size_t i = 0; i < now.benchmarks.size(); ++i) {
    const std::string& name = setup.benchmarks[now.benchmarks[i]];
    if (!family.has(setup, name)) continue;
    auto own = series_of(trial, name, now.blocks, family);
    if (!own) continue;
    set_thresholds(trial, name, now.blocks, family, *own);
    own->layout_error = layout_error_of(trial, now.blocks, own->differences);
    own->differences = observations(own->differences, machines, observed.unit);
    series.push_back(*std::move(own));
    places.push_back(i);
  }
  std::vector<MetricVerdict> verdicts = judge_metric(
      series, absent_from(trial, now, earlier, family), errors_of(trial), setup.seed, now.look,
      observed.unit == model::Unit::machine ? kOutlyingMachine : stats::kNothingOutlies);
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    if (auto& needed = verdicts[i].blocks_needed) {  // in blocks, for either kind of observation
      const std::size_t count = observed.count(now.blocks);
      *needed = (*needed * now.blocks.size() + count - 1) / count;
    }
    family.put(verdicts[i], rows[places[i]]);
  }
}

/// Judges the benchmarks that are due, by these families.
std::vector<BenchmarkVerdict> judge_at(const PairedTrial& trial, const Observed& observed,
                                       const Judgement& now, const Rows& earlier,
                                       std::span<const Family> families) {
  std::vector<BenchmarkVerdict> rows(now.benchmarks.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].name = trial.setup.benchmarks[now.benchmarks[i]];
  }
  for (const Family& family : families) {
    judge_family(trial, observed, now, family, earlier, rows);
  }
  return rows;
}

/// Takes the figures of a later look, and keeps the decisions of earlier looks.
void take_later(BenchmarkVerdict row, double alpha, std::optional<BenchmarkVerdict>& report) {
  if (report) {
    keep_decision(report->decided, alpha, row);
    if (row.cpu && report->cpu) {
      keep_decision(report->cpu->decided, alpha, *row.cpu);
    } else if (report->cpu && report->cpu->decided &&
               report->cpu->decided->verdict == Verdict::fail) {
      // A process that used no CPU time makes its ratio unknown, but takes no failure back.
      row.cpu = report->cpu;
      row.cpu->verdict = Verdict::inconclusive;
    }
    for (JudgedVerdict& each : row.judged) {
      const auto* const before =
          model::element_of(report->judged, each.metric, &JudgedVerdict::metric);
      if (before != nullptr) keep_decision(before->decided, alpha, each);
    }
  }
  report = std::move(row);
}

/// Adds the effects on each machine for the benchmarks of a judgement, and the alternative verdict.
void add_machines(const PairedTrial& trial, const Observed& observed, const Judgement& now,
                  Rows& rows) {
  const bool by_block = observed.unit == model::Unit::block;
  Observed other = observed;
  other.unit = by_block ? model::Unit::machine : model::Unit::block;
  const std::vector<BenchmarkVerdict> others =
      judge_at(trial, other, now, Rows(rows.size()), std::span(&kWallTimes, 1));
  const Numbers machines = observed.machines_of(now.blocks);
  const auto differences = model::each_of(now.benchmarks, [&](std::size_t each) {
    return series_of(trial, trial.setup.benchmarks[each], now.blocks, kWallTimes)->differences;
  });
  const auto spreads = stats::heterogeneity(differences, machines, trial.setup.seed);
  const std::size_t more = by_block ? now.blocks.size() / other.count(now.blocks) : 1;
  for (std::size_t i = 0; i < differences.size(); ++i) {
    BenchmarkVerdict& row = *rows[now.benchmarks[i]];
    ByMachine& by = row.by_machine.emplace();
    by.machines = effects_of(differences[i], machines, observed.machines.size(), observed.unit,
                             row.interval_level);
    by.kinds = effects_of_kinds(differences[i], machines, observed.machines, observed.unit,
                                row.interval_level);
    by.spread = std::expm1(spreads[i].deviation);
    by.p_equal = spreads[i].p_adjusted;
    by.other = others[i];
    by.detectable_with_another =
        with_another(observations(differences[i], machines, observed.unit), more, row, rows.size());
  }
}

/// Whether the last block left it out while others went on.
bool rests(const PairedTrial& trial, const std::string& benchmark) {
  if (is_merged(trial)) return false;
  const auto last = static_cast<std::size_t>(complete_blocks(trial)) - 1;
  return !trial.samples[last * model::kBlockSize].real_ns.contains(benchmark);
}

/// Names the counters that moved in the blocks of each row.
void add_counters(const PairedTrial& trial, BenchmarkVerdict& row) {
  Numbers blocks = blocks_with(trial, row.name);
  blocks.resize(static_cast<std::size_t>(row.blocks));
  row.counters = moved_counters(trial, blocks, row.name);
  std::erase_if(row.counters, [&](const CounterMove& moved) {  // it has its own line
    return (row.cpu && moved.name == kCpuTime) ||
           model::contains(row.judged, moved.name, &JudgedVerdict::metric);
  });
}

/// Judges metrics without a ratio, since a process reports 0 or less: as counts, or not at all.
/// Counts that do not repeat pass only if the differences of the blocks exclude what matters.
void judge_without_ratio(const PairedTrial& trial, BenchmarkVerdict& row) {
  const Numbers blocks = blocks_with(trial, row.name);
  for (const model::JudgedMetric& metric : trial.setup.judged) {
    if (!metric.of.contains(row.name) ||
        model::contains(row.judged, metric.name, &JudgedVerdict::metric)) {
      continue;
    }
    const char* why = nullptr;
    bool are_whole = true;
    std::vector<double> base;
    std::vector<double> head;
    std::vector<double> differences;
    for (const model::ProcessSample& sample : samples_of(trial, blocks)) {
      const auto value = counter_of(sample, row.name, metric.name.c_str());
      if (!value) {
        why = "a process does not report it";
      } else if (*value < 0 && why == nullptr) {
        why = "a process reports a negative value, which has no ratio";
      }
      const double known = value.value_or(0);
      are_whole = are_whole && known == std::floor(known);
      if (sample.position == 0) differences.push_back(0);
      differences.back() += (sample.side == Side::base ? -known : known) / 2;
      (sample.side == Side::base ? base : head).push_back(known);
    }
    if (why == nullptr && metric.more_is_better) why = "a process reports 0";
    if (why == nullptr) {
      // Half an event is no event, but half of another unit may be much.
      const LeastChange least{are_whole ? kLeastEvents : 0, metric.delta};
      const KindVerdict counts = judge_kind(metric.name, base, head, false, least);
      if (counts.repeats || counts.is_worse() ||
          stats::upper_bound(differences, trial.setup.pass_error) <= least.of(counts.base)) {
        row.kinds.push_back(counts);
        continue;
      }
      why = "a process reports 0, and the values of the others differ too much";
    }
    row.judged.push_back({{}, metric.name, metric.more_is_better, why});
  }
}

Verdict overall_of(const std::vector<BenchmarkVerdict>& rows) {
  const auto any = [&](const auto& is_meant) { return std::ranges::any_of(rows, is_meant); };
  const auto is_open = [](const BenchmarkVerdict& row) {
    return is_undecided(row) ||
           model::contains(row.judged, Verdict::inconclusive, &JudgedVerdict::verdict) ||
           (row.instructions && row.instructions->verdict == Verdict::inconclusive);
  };
  if (any(fails)) return Verdict::fail;
  return any(is_open) ? Verdict::inconclusive : Verdict::pass;
}

std::vector<std::string> blind_ones(const PairedTrial& trial,
                                    const std::vector<BenchmarkVerdict>& rows) {
  std::vector<std::string> names;
  const auto is_blind_to = [](const MetricVerdict& metric, double delta) {
    return is_blind(metric.verdict, metric.detectable, metric.high, delta);
  };
  for (const BenchmarkVerdict& row : rows) {
    if (is_blind_to(row, trial.setup.delta) ||
        (row.cpu && holds_back(*row.cpu) && is_blind_to(*row.cpu, row.cpu->delta)) ||
        std::ranges::any_of(row.judged, [&](const JudgedVerdict& each) {
          return !each.reason.empty() || is_blind_to(each, each.delta);
        })) {
      names.push_back(row.name);
    }
  }
  return names;
}

/// Duration of first runs and counting.
double spent_before_blocks_s(const PairedTrial& trial) {
  double spent_s = trial.setup.explored_s + trial.uncounted.took_s;
  for (const auto& sample : trial.instructions) spent_s += sample.took_s;
  return spent_s;
}

}  // namespace

std::optional<Verdict> PairedFile::verdict() const {
  if (outcome == Outcome::judged) return report.overall;
  if (outcome == Outcome::identical) return Verdict::pass;
  return outcome == Outcome::no_base ? std::optional(Verdict::inconclusive) : std::nullopt;
}

bool is_undecided(const BenchmarkVerdict& row) {
  return row.verdict == Verdict::inconclusive || (row.cpu && holds_back(*row.cpu)) ||
         std::ranges::any_of(row.judged, [](const JudgedVerdict& each) {
           return each.verdict == Verdict::inconclusive && each.reason.empty();
         });
}

bool fails(const BenchmarkVerdict& row) {
  return row.verdict == Verdict::fail || (row.cpu && row.cpu->verdict == Verdict::fail) ||
         model::contains(row.judged, Verdict::fail, &JudgedVerdict::verdict) ||
         (row.instructions && row.instructions->verdict == Verdict::fail) ||
         model::contains(row.kinds, Verdict::fail, &KindVerdict::verdict);
}

int complete_blocks(const PairedTrial& trial) {
  return static_cast<int>(trial.samples.size()) / model::kBlockSize;
}

std::vector<double> block_differences(const PairedTrial& trial, const std::string& name,
                                      int blocks) {
  Numbers measured = blocks_with(trial, name);
  measured.resize(std::min(measured.size(), static_cast<std::size_t>(blocks)));
  return series_of(trial, name, measured, kWallTimes)->differences;
}

bool is_at_look(const PairedTrial& trial) {
  const std::vector<Judgement> all = judgements_of(trial);
  const auto last = static_cast<std::size_t>(complete_blocks(trial)) - 1;
  return !all.empty() && all.back().blocks.back() == last;
}

bool holds_back(const MetricVerdict& cpu) {
  const bool is_withdrawn = cpu.decided && cpu.decided->verdict == Verdict::fail;
  return cpu.verdict == Verdict::inconclusive && (is_withdrawn || cpu.change >= cpu.delta);
}

double spent_s(const PairedTrial& trial) {
  double spent_s = spent_before_blocks_s(trial);
  for (const auto& sample : trial.samples) spent_s += sample.took_s;
  for (const auto& explanation : trial.explanations) spent_s += explanation.took_s;
  return spent_s;
}

double seconds_of_a_block(const PairedTrial& trial) {
  const auto complete = static_cast<std::size_t>(complete_blocks(trial)) * model::kBlockSize;
  double seconds = 0;
  std::size_t processes = 0;
  while (processes < complete) {
    const model::ProcessSample& sample = trial.samples[complete - 1 - processes];
    if (sample.real_ns.size() != trial.samples[complete - 1].real_ns.size()) break;
    seconds += sample.took_s;
    ++processes;
  }
  return processes == 0 ? 0 : seconds * model::kBlockSize / static_cast<double>(processes);
}

int blocks_within(const PairedTrial& trial, double budget_s) {
  const int complete = complete_blocks(trial);
  const double block_s = seconds_of_a_block(trial);
  if (block_s <= 0) return trial.setup.max_blocks;
  const double left_s = budget_s - spent_s(trial);
  const double fit = std::floor(
      std::min(complete + left_s / block_s, static_cast<double>(trial.setup.max_blocks)));
  return std::max(complete, static_cast<int>(fit));
}

Reach reach_of(const PairedTrial& trial, int blocks) {
  Reach reach;
  reach.blocks = blocks;
  // A number above the trial's limit of blocks is also an answer.
  stats::TrialErrors errors = errors_of(trial);
  errors.max_blocks = std::max<std::size_t>(errors.max_blocks, model::kDefaultMaxBlocks);
  reach.least = stats::least_blocks(errors);
  reach.steady = stats::least_blocks(errors, trial.setup.benchmarks.size());
  const auto complete = static_cast<std::size_t>(complete_blocks(trial));
  if (is_merged(trial)) return reach;  // its blocks ran in parallel
  reach.before_s = spent_before_blocks_s(trial);
  if (complete == 0) reach.block_s = model::kBlockSize * trial.setup.process_s;
  for (std::size_t i = 0; i < complete * model::kBlockSize; ++i) {
    reach.block_s += trial.samples[i].took_s / static_cast<double>(complete);
  }
  return reach;
}

PairedReport judge(const PairedTrial& trial) {
  PairedReport report;
  report.blocks = complete_blocks(trial);
  report.interval_level = interval_level_of(trial.setup.pass_error);
  report.machine = drift_over(trial.samples);
  Rows rows(trial.setup.benchmarks.size());
  Observed observed;
  if (is_merged(trial)) {
    report.machines = machines_of(trial);
    observed = {trial.setup.unit, report.machines, machine_of_blocks(trial, report.machines)};
  }
  const std::vector<Family> families = families_of(trial.setup);
  const std::vector<Judgement> judgements =
      is_merged(trial) ? judgements_of_merged(trial, observed) : judgements_of(trial);
  for (const Judgement& now : judgements) {
    std::vector<BenchmarkVerdict> judged = judge_at(trial, observed, now, rows, families);
    const std::size_t absent = rows.size() - now.benchmarks.size();
    report.could_fail =
        report.could_fail || now.look.alpha > stats::least_p(observed.count(now.blocks), absent);
    for (std::size_t i = 0; i < judged.size(); ++i) {
      take_later(std::move(judged[i]), trial.setup.alpha, rows[now.benchmarks[i]]);
    }
    if (is_merged(trial)) add_machines(trial, observed, now, rows);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::optional<BenchmarkVerdict>& row = rows[i];
    if (!row) {
      report.unreached.push_back(trial.setup.benchmarks[i]);
      continue;
    }
    if (row->verdict == Verdict::inconclusive && rests(trial, row->name)) {
      report.resting.push_back(row->name);
    }
    add_counters(trial, *row);
    Counted counted = judge_counted(trial, row->name);
    row->instructions = std::move(counted.instructions);
    row->kinds =
        counted.kinds.empty() ? judge_own_counts(trial, row->name) : std::move(counted.kinds);
    judge_without_ratio(trial, *row);
    // Counts that were not requested do not make up for times that show nothing.
    report.could_fail = report.could_fail ||
                        (trial.setup.counts_instructions && row->instructions->exact.has_value());
    report.benchmarks.push_back(*std::move(row));
  }
  if (report.benchmarks.empty()) report.unreached.clear();  // not yet reached
  report.blind = blind_ones(trial, report.benchmarks);
  report.blind.insert(report.blind.end(), report.unreached.begin(), report.unreached.end());
  report.overall =
      report.benchmarks.empty() ? Verdict::inconclusive : overall_of(report.benchmarks);
  if (report.overall == Verdict::pass && !report.unreached.empty()) {
    report.overall = Verdict::inconclusive;
  }
  report.decided = report.benchmarks.size() == rows.size() &&
                   std::ranges::none_of(report.benchmarks, is_undecided);
  return report;
}

}  // namespace taskbench::reports::verdict
