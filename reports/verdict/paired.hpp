// Judges whether a change between two programs is a regression: the verdicts of a paired trial.
// Pure: equal trials give equal reports, bit for bit. docs/design/measurement.md has the method and
// its references.
//
// For benchmark w and block i, x is ln(time per iteration) of a process, and
//     d[w][i] = ((x of head + x of head) - (x of base + x of base)) / 2.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/model/drift.hpp"
#include "reports/model/paired.hpp"
#include "reports/verdict/counter_move.hpp"
#include "reports/verdict/decision.hpp"
#include "reports/verdict/exact.hpp"
#include "reports/verdict/machines.hpp"
#include "reports/verdict/metric.hpp"

namespace taskbench::reports::verdict {

/// The verdict on a requested metric.
struct JudgedVerdict : MetricVerdict {
  std::string metric;
  bool more_is_better = false;
  std::string reason{};  ///< why it cannot be judged, as a clause; then there are no figures
};

/// The verdict on a benchmark's wall time, with its other results.
struct BenchmarkVerdict : MetricVerdict {
  std::string name;
  /// The verdict on its CPU time, if the trial judges it and every process reported one. Its delta
  /// applies to the sum of CPU time and sleep: a program that sleeps most of the time may use half
  /// as much CPU time again if that is a tiny part of the sum. Waiting for a CPU does not count.
  std::optional<MetricVerdict> cpu;
  /// For the metrics of the setup that both sides report. A metric that is 0 in a process is among
  /// `kinds` instead, if less of it is better and its values show whether it has grown.
  std::vector<JudgedVerdict> judged;
  std::vector<CounterMove> counters;                ///< the counters that moved most, at most three
  std::optional<InstructionsVerdict> instructions;  ///< if the trial counts them
  std::vector<KindVerdict> kinds;                   ///< those that were counted on both sides
  std::optional<ByMachine> by_machine;              ///< of a merged trial
};

struct PairedReport {
  std::vector<BenchmarkVerdict> benchmarks;  ///< the judged benchmarks, in the order of the setup
  /// Over all metrics and counts: fail if one fails, otherwise inconclusive if one is. An undecided
  /// CPU time counts only if head seems to use more: see holds_back().
  Verdict overall = Verdict::pass;
  int blocks = 0;           ///< number of complete blocks
  bool decided = false;     ///< more blocks would decide nothing that matters to `overall`
  bool could_fail = false;  ///< some outcome of this many blocks or of the instructions was a FAIL
  /// Benchmarks without a verdict that could not have shown kBlindFactor times --delta, or, for
  /// other metrics, times their own delta.
  std::vector<std::string> blind;
  /// If there was no time for all benchmarks: those without a verdict that gave way to others after
  /// some blocks, and those that no look has judged.
  std::vector<std::string> resting;
  std::vector<std::string> unreached;
  double interval_level = kIntervalLevel;  ///< of each interval
  model::Drift machine;           ///< total drift, over all processes that it was recorded for
  std::vector<Machine> machines;  ///< of a merged trial
};

/// What a trial that ends after this many blocks can decide, known in advance.
struct Reach {
  int blocks = 0;
  /// The smallest number of blocks for which some outcome is a FAIL, and the smallest for which a
  /// slowdown need not show in every block; empty if there is none.
  std::optional<std::size_t> least;
  std::optional<std::size_t> steady;
  double block_s = 0;   ///< duration of a block
  double before_s = 0;  ///< duration of first runs and counting, before any block

  [[nodiscard]] bool can_fail() const { return least && *least <= std::size_t(blocks); }
  [[nodiscard]] bool is_steady() const { return steady && *steady <= std::size_t(blocks); }
};

/// The reach of a trial if it ended after `blocks`. Until a block is complete, its duration is
/// estimated from the first runs.
[[nodiscard]] Reach reach_of(const model::PairedTrial& trial, int blocks);

/// The spent part of the budget.
[[nodiscard]] double spent_s(const model::PairedTrial& trial);

/// Duration of a block with as many benchmarks as the last complete one, from the earlier blocks
/// like it; 0 if there is none.
[[nodiscard]] double seconds_of_a_block(const model::PairedTrial& trial);

/// Number of blocks that fit into the budget, if they take as long as the last ones. At least the
/// number of existing blocks, at most what the setup permits.
[[nodiscard]] int blocks_within(const model::PairedTrial& trial, double budget_s);

/// Whether this undecided CPU time prevents a PASS: it seems greater by at least delta, or it did
/// at an earlier look.
[[nodiscard]] bool holds_back(const MetricVerdict& cpu);

/// Whether any of its metrics is undecided in a way that matters to the trial's verdict and that
/// more blocks may change.
[[nodiscard]] bool is_undecided(const BenchmarkVerdict& row);

/// Whether the benchmark fails by any of its metrics.
[[nodiscard]] bool fails(const BenchmarkVerdict& row);

/// The number of blocks with all their processes.
[[nodiscard]] int complete_blocks(const model::PairedTrial& trial);

/// d of the first `blocks` complete blocks that measured the benchmark.
[[nodiscard]] std::vector<double> block_differences(const model::PairedTrial& trial,
                                                    const std::string& name, int blocks);

/// Whether the last complete block brought some benchmark to a look (stats/sequential.hpp).
[[nodiscard]] bool is_at_look(const model::PairedTrial& trial);

/// Judges each benchmark at each look that it has reached, and also at the end of the trial if it
/// was measured until then. Looks count the blocks that measured it: a benchmark may leave, rest
/// meanwhile, and count for the others as described at stats::sign_flip_test. The first look that
/// decides a benchmark gives its verdict; the figures are those of its last look, over all of its
/// blocks. A merged trial has one look, at its end, or one after each round.
[[nodiscard]] PairedReport judge(const model::PairedTrial& trial);

// The content of a file written by `taskbench ab --json` or `taskbench gate --json`.

struct PairedFile {
  enum class Outcome {
    judged,
    identical,  ///< both programs are the same; nothing was run
    failed,     ///< there is nothing to judge
    no_base,    ///< base has failed, but head is sound
  };
  Outcome outcome = Outcome::judged;
  model::PairedTrial trial{};      ///< if read but not judged: only the programs and `reproduce`
  PairedReport report{};           ///< of a judged trial
  model::PairedFailure failure{};  ///< of a failed trial, or of base, also after a FAIL
  std::string why{};               ///< of identical programs, as a clause; missing in older reports

  /// Empty if there is nothing to judge.
  [[nodiscard]] std::optional<Verdict> verdict() const;
};

}  // namespace taskbench::reports::verdict
