#include "reports/verdict/paired.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "reports/stats/power.hpp"
#include "reports/stats/sequential.hpp"
#include "reports/stats/sign_flip.hpp"
#include "reports/stats/summary.hpp"
#include "reports/stats/walsh.hpp"

namespace taskbench::reports::verdict {
namespace {

using model::PairedTrial;
using model::Side;

constexpr double kPowerError = 0.2;  // `detectable` is found in four of five trials

std::size_t most_blocks(const PairedTrial& trial) {
  return static_cast<std::size_t>(trial.setup.max_blocks);
}

double relative(double log_ratio) { return std::expm1(log_ratio); }

std::optional<double> finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

template <class Value>
std::vector<double> of_side(const PairedTrial& trial, std::size_t blocks, Side side,
                            const Value& value) {
  std::vector<double> result;
  for (std::size_t i = 0; i < blocks * model::kBlockSize; ++i) {
    if (trial.samples[i].side != side) continue;
    if (const std::optional<double> each = value(trial.samples[i])) result.push_back(*each);
  }
  return result;
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
    for (const auto& [name, value] : found->second) side[name].push_back(value);
  }
  const auto iterations = trial.setup.iterations.find(benchmark);
  return most_moved(
      base, head, 1,
      iterations == trial.setup.iterations.end() ? 0 : resolution_of(iterations->second));
}

/// All benchmarks after the first blocks, by what this look may spend.
std::vector<BenchmarkVerdict> judge_at(const PairedTrial& trial, const stats::Look& look) {
  const auto& setup = trial.setup;
  const std::size_t blocks = look.blocks;
  std::vector<std::vector<double>> d;
  std::vector<double> shifts;
  for (const std::string& name : setup.benchmarks) {
    d.push_back(block_differences(trial, name, static_cast<int>(blocks)));
    shifts.push_back(std::log1p(setup.noise_floors.at(name).epsilon));
  }
  const auto slower = stats::sign_flip_test(d, shifts, stats::Direction::slower, setup.seed);
  const auto faster = stats::sign_flip_test(d, shifts, stats::Direction::faster, setup.seed);
  // What a trial that ends after so many blocks has left to spend: as `detectable` is defined.
  const stats::Look end =
      stats::last_look(blocks, setup.alpha, setup.pass_error, most_blocks(trial));
  const double alpha_each = end.alpha / static_cast<double>(setup.benchmarks.size());
  const bool could_fail = end.alpha > stats::least_p(blocks);

  std::vector<BenchmarkVerdict> rows;
  for (std::size_t i = 0; i < d.size(); ++i) {
    BenchmarkVerdict row;
    row.name = setup.benchmarks[i];
    row.blocks = static_cast<int>(blocks);
    row.epsilon = setup.noise_floors.at(row.name).epsilon;
    row.delta = std::max(setup.delta, row.epsilon);
    const auto time = [&](const model::ProcessSample& sample) {
      return std::optional(sample.real_ns.at(row.name));
    };
    row.base_ns = stats::median(of_side(trial, blocks, Side::base, time));
    row.head_ns = stats::median(of_side(trial, blocks, Side::head, time));
    const double effect = stats::hodges_lehmann(d[i]);
    row.change = relative(effect);
    const auto interval = stats::confidence_interval(d[i], kIntervalLevel);
    row.low = finite(relative(interval.low));
    row.high = finite(relative(interval.high));
    if (std::isinf(interval.low)) row.low.reset();
    row.p = slower.p[i];
    row.p_adjusted = slower.p_adjusted[i];
    if (blocks > 1) {
      const double deviation = stats::robust_deviation(d[i]);
      if (could_fail) {
        row.detectable = finite(stats::minimum_failing_effect(
            deviation, blocks, row.epsilon, row.delta, {alpha_each, kPowerError}));
      }
      row.blocks_needed = stats::blocks_needed(deviation, effect, row.epsilon, row.delta,
                                               {alpha_each, end.pass_error});
    }
    const Decision decision =
        decide({.effect = effect,
                .p_slower_adjusted = slower.p_adjusted[i],
                .p_faster_adjusted = faster.p_adjusted[i],
                .upper_bound = look.pass_error > 0 ? stats::upper_bound(d[i], look.pass_error)
                                                   : std::numeric_limits<double>::infinity()},
               {.epsilon = row.epsilon, .delta = row.delta, .alpha = look.alpha});
    row.verdict = decision.verdict;
    row.improved = decision.improved;
    row.counters = moved_counters(trial, blocks, row.name);
    rows.push_back(std::move(row));
  }
  return rows;
}

InstructionsVerdict compared_instructions(const PairedTrial& trial, const std::string& benchmark) {
  const model::InstructionSample* base = nullptr;
  const model::InstructionSample* head = nullptr;
  for (const model::InstructionSample& sample : trial.instructions) {
    if (sample.benchmark == benchmark) (sample.side == Side::base ? base : head) = &sample;
  }
  InstructionsVerdict result;
  for (const auto* sample : {base, head}) {
    if (sample == nullptr) {
      result.reason = "not counted yet";
    } else if (!sample->unavailable.empty()) {
      result.reason = fmt::format("of {}: {}", name_of(sample->side), sample->unavailable);
    } else if (sample->per_iteration.size() < kLeastExactCounts) {
      result.reason = fmt::format("of {}: too few counts", name_of(sample->side));
    }
    if (!result.reason.empty()) return result;
  }
  return judge_instructions(base->per_iteration, head->per_iteration);
}

Verdict overall_of(const std::vector<BenchmarkVerdict>& rows) {
  const auto any = [&](Verdict verdict) {
    return std::ranges::any_of(rows, [&](const BenchmarkVerdict& row) {
      return row.verdict == verdict || (row.instructions && row.instructions->verdict == verdict);
    });
  };
  if (any(Verdict::fail)) return Verdict::fail;
  return any(Verdict::inconclusive) ? Verdict::inconclusive : Verdict::pass;
}

}  // namespace

int complete_blocks(const PairedTrial& trial) {
  return static_cast<int>(trial.samples.size()) / model::kBlockSize;
}

std::vector<double> block_differences(const PairedTrial& trial, const std::string& name,
                                      int blocks) {
  std::vector<double> result(static_cast<std::size_t>(blocks), 0);
  for (std::size_t i = 0; i < result.size() * model::kBlockSize; ++i) {
    const auto& sample = trial.samples[i];
    const double x = std::log(sample.real_ns.at(name));
    result[i / model::kBlockSize] += sample.side == Side::head ? x / 2 : -x / 2;
  }
  return result;
}

bool is_at_look(const PairedTrial& trial) {
  return stats::is_look(static_cast<std::size_t>(complete_blocks(trial)), most_blocks(trial));
}

PairedReport judge(const PairedTrial& trial) {
  const auto& setup = trial.setup;
  const auto blocks = static_cast<std::size_t>(complete_blocks(trial));
  std::vector<stats::Look> looks;
  for (const stats::Look& look : stats::looks(setup.alpha, setup.pass_error, most_blocks(trial))) {
    // An end that the data had no part in comes in place of the look at just as many blocks.
    const bool is_last = trial.end && *trial.end != model::TrialEnd::decided;
    if (look.blocks < blocks || (look.blocks == blocks && !is_last)) looks.push_back(look);
  }
  if (trial.end && *trial.end != model::TrialEnd::decided && blocks > 0) {
    looks.push_back(stats::last_look(blocks, setup.alpha, setup.pass_error, most_blocks(trial)));
  }
  PairedReport report;
  report.blocks = static_cast<int>(blocks);
  for (const stats::Look& look : looks) {
    std::vector<BenchmarkVerdict> rows = judge_at(trial, look);
    if (report.benchmarks.empty()) {
      report.benchmarks = std::move(rows);
      continue;
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      auto& so_far = report.benchmarks[i];
      if (so_far.verdict == Verdict::inconclusive) so_far = std::move(rows[i]);
    }
  }
  if (setup.counts_instructions) {
    for (BenchmarkVerdict& row : report.benchmarks) {
      row.instructions = compared_instructions(trial, row.name);
    }
  }
  report.overall =
      report.benchmarks.empty() ? Verdict::inconclusive : overall_of(report.benchmarks);
  report.decided = !report.benchmarks.empty() &&
                   std::ranges::none_of(report.benchmarks, [](const BenchmarkVerdict& row) {
                     return row.verdict == Verdict::inconclusive;
                   });
  return report;
}

}  // namespace taskbench::reports::verdict
