#include "reports/verdict/paired.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "reports/model/run.hpp"
#include "reports/stats/power.hpp"
#include "reports/stats/sequential.hpp"
#include "reports/stats/sign_flip.hpp"
#include "reports/stats/summary.hpp"
#include "reports/verdict/drift.hpp"

namespace taskbench::reports::verdict {
namespace {

using model::PairedTrial;
using model::Side;

constexpr const char* kCpuTime = "cpu_ns";  // among a sample's counters

std::size_t most_blocks(const PairedTrial& trial) {
  return static_cast<std::size_t>(trial.setup.max_blocks);
}

stats::TrialErrors errors_of(const PairedTrial& trial) {
  return {trial.setup.alpha, trial.setup.pass_error, most_blocks(trial)};
}

std::optional<double> wall_time(const model::ProcessSample& sample, const std::string& benchmark) {
  return sample.real_ns.at(benchmark);
}

std::optional<double> counter_of(const model::ProcessSample& sample, const std::string& benchmark,
                                 const char* name) {
  const auto counters = sample.counters.find(benchmark);
  if (counters == sample.counters.end()) return std::nullopt;
  const auto found = counters->second.find(name);
  if (found == counters->second.end() || !std::isfinite(found->second)) return std::nullopt;
  return found->second;
}

/// The CPU time; empty unless it is above 0, since 0 has no logarithm.
std::optional<double> cpu_time(const model::ProcessSample& sample, const std::string& benchmark) {
  const auto cpu_ns = counter_of(sample, benchmark, kCpuTime);
  return cpu_ns > 0.0 ? cpu_ns : std::nullopt;
}

/// The ratio of the time that base wants to its CPU time, 1 or more: sleep counts, waiting for a
/// CPU does not. 1 if in doubt: if a process does not know how long it waited, as in older
/// journals, the load of other processes would be taken for sleep.
double wanted_per_cpu_time(const PairedTrial& trial, const std::string& benchmark,
                           std::size_t blocks) {
  std::vector<double> shares;
  for (std::size_t i = 0; i < blocks * model::kBlockSize; ++i) {
    const model::ProcessSample& sample = trial.samples[i];
    if (sample.side != Side::base) continue;
    const auto cpu_ns = cpu_time(sample, benchmark);
    const auto queued_ns = counter_of(sample, benchmark, model::kQueuedTime);
    if (!cpu_ns || !queued_ns) return 1;
    shares.push_back((*wall_time(sample, benchmark) - std::max(0.0, *queued_ns)) / *cpu_ns);
  }
  return std::max(1.0, stats::median(shares));
}

/// A metric of one benchmark; empty if a process has no value.
template <class Value>
std::optional<MetricSeries> series_of(const PairedTrial& trial, const std::string& benchmark,
                                      std::size_t blocks, const Value& value) {
  MetricSeries series;
  series.differences.resize(blocks);
  for (std::size_t i = 0; i < blocks * model::kBlockSize; ++i) {
    const std::optional<double> each = value(trial.samples[i], benchmark);
    if (!each) return std::nullopt;
    const bool of_head = trial.samples[i].side == Side::head;
    const double x = std::log(*each) / 2;
    series.differences[i / model::kBlockSize] += of_head ? x : -x;
    (of_head ? series.head : series.base).push_back(*each);
  }
  return series;
}

std::vector<CounterMove> moved_counters(const PairedTrial& trial, std::size_t blocks,
                                        const std::string& benchmark) {
  CounterValues base;
  CounterValues head;
  for (std::size_t i = 0; i < blocks * model::kBlockSize; ++i) {
    const model::ProcessSample& sample = trial.samples[i];
    const auto found = sample.counters.find(benchmark);
    if (found == sample.counters.end()) continue;
    CounterValues& side = sample.side == Side::base ? base : head;
    for (const auto& [name, value] : found->second) {
      // A process that does not know how long it waited for a CPU gives a bound here.
      if (name != model::kQueuedTime) side[name].push_back(value);
    }
  }
  const auto iterations = trial.setup.iterations.find(benchmark);
  return most_moved(
      base, head, 1,
      iterations == trial.setup.iterations.end() ? 0 : resolution_of(iterations->second));
}

/// Judges all benchmarks after this look's blocks, with the errors that it may spend.
std::vector<BenchmarkVerdict> judge_at(const PairedTrial& trial, const stats::Look& look) {
  const auto& setup = trial.setup;
  std::vector<MetricSeries> wall;
  std::vector<MetricSeries> cpu;
  std::vector<std::size_t> with_cpu;  // indices of the benchmarks
  for (const std::string& name : setup.benchmarks) {
    wall.push_back(*series_of(trial, name, look.blocks, wall_time));
    wall.back().epsilon = setup.noise_floors.at(name).epsilon;
    wall.back().delta = setup.delta;
    if (!setup.cpu_time_of.contains(name)) continue;
    auto series = series_of(trial, name, look.blocks, cpu_time);
    if (!series) continue;
    series->epsilon = wall.back().epsilon;
    series->delta = setup.delta * wanted_per_cpu_time(trial, name, look.blocks);
    cpu.push_back(*std::move(series));
    with_cpu.push_back(wall.size() - 1);
  }
  const std::vector<MetricVerdict> times = judge_metric(wall, errors_of(trial), setup.seed, look);
  const std::vector<MetricVerdict> cpu_times =
      judge_metric(cpu, errors_of(trial), setup.seed, look);
  std::vector<BenchmarkVerdict> rows;
  for (std::size_t i = 0; i < times.size(); ++i) {
    BenchmarkVerdict row;
    static_cast<MetricVerdict&>(row) = times[i];
    row.name = setup.benchmarks[i];
    row.counters = moved_counters(trial, look.blocks, row.name);
    rows.push_back(std::move(row));
  }
  for (std::size_t i = 0; i < cpu_times.size(); ++i) {
    BenchmarkVerdict& row = rows[with_cpu[i]];
    row.cpu = cpu_times[i];
    std::erase_if(row.counters, [](const CounterMove& moved) { return moved.name == kCpuTime; });
  }
  return rows;
}

/// Takes the figures of a later look, and keeps what earlier looks have decided.
void take_later(std::vector<BenchmarkVerdict> rows, double alpha,
                std::vector<BenchmarkVerdict>& report) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    keep_decision(report[i].decided, alpha, rows[i]);
    if (rows[i].cpu && report[i].cpu) keep_decision(report[i].cpu->decided, alpha, *rows[i].cpu);
  }
  report = std::move(rows);
}

bool is_acknowledged(const PairedTrial& trial, const std::string& kind) {
  return std::ranges::find(trial.setup.acknowledged, kind) != trial.setup.acknowledged.end();
}

/// Judges the kinds that were counted on both sides.
std::vector<KindVerdict> compared_kinds(const PairedTrial& trial,
                                        const model::InstructionSample& base,
                                        const model::InstructionSample& head) {
  std::vector<KindVerdict> kinds;
  for (const auto& [kind, counts] : base.kinds) {
    const auto of_head = head.kinds.find(kind);
    if (of_head == head.kinds.end()) continue;
    kinds.push_back(judge_kind(kind, counts, of_head->second, is_acknowledged(trial, kind)));
  }
  return kinds;
}

/// Adds the verdicts on what was counted of a benchmark.
void judge_counts(const PairedTrial& trial, BenchmarkVerdict& row) {
  const model::InstructionSample* base = nullptr;
  const model::InstructionSample* head = nullptr;
  for (const model::InstructionSample& sample : trial.instructions) {
    if (sample.benchmark == row.name) (sample.side == Side::base ? base : head) = &sample;
  }
  InstructionsVerdict& result = row.instructions.emplace();
  for (const auto* sample : {base, head}) {
    if (sample == nullptr) {
      result.reason = "not counted yet";
    } else if (!sample->unavailable.empty()) {
      result.reason = fmt::format("of {}: {}", name_of(sample->side), sample->unavailable);
    } else if (sample->per_iteration.size() < kLeastExactCounts) {
      result.reason = fmt::format("of {}: too few counts", name_of(sample->side));
    }
    if (!result.reason.empty()) return;
  }
  result = judge_instructions(base->per_iteration, head->per_iteration);
  if (result.verdict == Verdict::fail && is_acknowledged(trial, model::kInstructions)) {
    result.verdict = Verdict::pass;
    result.acknowledged = true;
  }
  row.kinds = compared_kinds(trial, *base, *head);
}

Verdict overall_of(const std::vector<BenchmarkVerdict>& rows) {
  const auto any = [&](const auto& is_meant) { return std::ranges::any_of(rows, is_meant); };
  const auto is_undecided = [](const BenchmarkVerdict& row) {
    return row.verdict == Verdict::inconclusive || (row.cpu && holds_back(*row.cpu)) ||
           (row.instructions && row.instructions->verdict == Verdict::inconclusive);
  };
  if (any(fails)) return Verdict::fail;
  return any(is_undecided) ? Verdict::inconclusive : Verdict::pass;
}

std::vector<std::string> blind_ones(const PairedTrial& trial,
                                    const std::vector<BenchmarkVerdict>& rows) {
  std::vector<std::string> names;
  for (const BenchmarkVerdict& row : rows) {
    const bool of_cpu =
        row.cpu && holds_back(*row.cpu) &&
        is_blind(row.cpu->verdict, row.cpu->detectable, row.cpu->high, row.cpu->delta);
    if (of_cpu || is_blind(row.verdict, row.detectable, row.high, trial.setup.delta)) {
      names.push_back(row.name);
    }
  }
  return names;
}

/// The looks at which the trial is judged, with the errors that each may spend.
std::vector<stats::Look> looks_of(const PairedTrial& trial) {
  const auto blocks = static_cast<std::size_t>(complete_blocks(trial));
  // An end that does not depend on the data replaces the look at the same number of blocks.
  const bool is_last = trial.end && *trial.end != model::TrialEnd::decided;
  std::vector<stats::Look> looks;
  for (const stats::Look& look : stats::looks(errors_of(trial))) {
    if (look.blocks < blocks || (look.blocks == blocks && !is_last)) looks.push_back(look);
  }
  if (is_last && blocks > 0) looks.push_back(stats::last_look(blocks, errors_of(trial)));
  return looks;
}

}  // namespace

bool fails(const BenchmarkVerdict& row) {
  return row.verdict == Verdict::fail || (row.cpu && row.cpu->verdict == Verdict::fail) ||
         (row.instructions && row.instructions->verdict == Verdict::fail) ||
         std::ranges::find(row.kinds, Verdict::fail, &KindVerdict::verdict) != row.kinds.end();
}

int complete_blocks(const PairedTrial& trial) {
  return static_cast<int>(trial.samples.size()) / model::kBlockSize;
}

std::vector<double> block_differences(const PairedTrial& trial, const std::string& name,
                                      int blocks) {
  return series_of(trial, name, static_cast<std::size_t>(blocks), wall_time)->differences;
}

bool is_at_look(const PairedTrial& trial) {
  return stats::is_look(static_cast<std::size_t>(complete_blocks(trial)), most_blocks(trial));
}

bool holds_back(const MetricVerdict& cpu) {
  const bool is_withdrawn = cpu.decided && cpu.decided->verdict == Verdict::fail;
  return cpu.verdict == Verdict::inconclusive && (is_withdrawn || cpu.change >= cpu.delta);
}

int blocks_within(const PairedTrial& trial, double budget_s) {
  const int complete = complete_blocks(trial);
  const double block_s = reach_of(trial, complete).block_s;
  if (block_s <= 0) return trial.setup.max_blocks;
  const double fit = std::floor(std::min((budget_s - trial.setup.explored_s) / block_s,
                                         static_cast<double>(trial.setup.max_blocks)));
  return std::max(complete, static_cast<int>(fit));
}

Reach reach_of(const PairedTrial& trial, int blocks) {
  Reach reach;
  reach.blocks = blocks;
  // A number above the trial's limit of blocks is an answer, too.
  stats::TrialErrors errors = errors_of(trial);
  errors.max_blocks = std::max<std::size_t>(errors.max_blocks, model::kDefaultMaxBlocks);
  reach.least = stats::least_blocks(errors);
  reach.steady = stats::least_blocks(errors, trial.setup.benchmarks.size());
  const auto complete = static_cast<std::size_t>(complete_blocks(trial));
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
  for (const stats::Look& look : looks_of(trial)) {
    std::vector<BenchmarkVerdict> rows = judge_at(trial, look);
    report.could_fail = report.could_fail || look.alpha > stats::least_p(look.blocks);
    if (report.benchmarks.empty()) {
      report.benchmarks = std::move(rows);
    } else {
      take_later(std::move(rows), trial.setup.alpha, report.benchmarks);
    }
  }
  if (trial.setup.counts_instructions) {
    for (BenchmarkVerdict& row : report.benchmarks) {
      judge_counts(trial, row);
      report.could_fail = report.could_fail || row.instructions->exact;
    }
  }
  report.blind = blind_ones(trial, report.benchmarks);
  report.overall =
      report.benchmarks.empty() ? Verdict::inconclusive : overall_of(report.benchmarks);
  report.decided =
      !report.benchmarks.empty() &&
      std::ranges::none_of(report.benchmarks, [](const BenchmarkVerdict& row) {
        return row.verdict == Verdict::inconclusive || (row.cpu && holds_back(*row.cpu));
      });
  return report;
}

}  // namespace taskbench::reports::verdict
