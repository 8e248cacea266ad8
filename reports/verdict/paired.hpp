// Judges whether a change between two programs is a regression: the verdicts of a paired trial.
// Pure: equal trials give equal reports, bit for bit. The method and its references are in
// docs/design/measurement.md.
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

/// The verdict on a metric that somebody has asked for.
struct JudgedVerdict : MetricVerdict {
  std::string metric;
  bool more_is_better = false;
  std::string reason{};  ///< why it cannot be judged, a clause; then there are no figures
};

/// The verdict on a benchmark's wall time, with what else is known of it.
struct BenchmarkVerdict : MetricVerdict {
  std::string name;
  /// The verdict on its CPU time, if the trial judges it and every process had some. Its delta
  /// applies to CPU time and sleep together: a program that sleeps most of the time may use half as
  /// much CPU time again, if that is next to nothing. Waiting for a CPU does not count.
  std::optional<MetricVerdict> cpu;
  /// Of the metrics of the setup that both sides report. One that is 0 in a process is among
  /// `kinds` instead, if less of it is better.
  std::vector<JudgedVerdict> judged;
  std::vector<CounterMove> counters;                ///< at most three, those that moved most
  std::optional<InstructionsVerdict> instructions;  ///< if the trial counts them
  std::vector<KindVerdict> kinds;                   ///< those that were counted on both sides
  std::optional<ByMachine> by_machine;              ///< of a merged trial
};

struct PairedReport {
  std::vector<BenchmarkVerdict> benchmarks;  ///< that were judged, in the order of the setup
  /// Over all metrics and counts: fail if one fails, else inconclusive if one is.
  /// Undecided CPU times count only if more seems to be used: see holds_back().
  Verdict overall = Verdict::pass;
  int blocks = 0;           ///< number of complete blocks
  bool decided = false;     ///< more blocks would decide nothing that matters to `overall`
  bool could_fail = false;  ///< some outcome of this many blocks or of the instructions was a FAIL
  /// Benchmarks without a verdict that could not have shown kBlindFactor times --delta; for their
  /// other metrics, times the delta of these.
  std::vector<std::string> blind;
  /// Where there was no time for all: those without a verdict that gave way to others after some
  /// blocks, and those that no look has judged.
  std::vector<std::string> resting;
  std::vector<std::string> unreached;
  double interval_level = kIntervalLevel;  ///< of each interval
  model::Drift machine;           ///< how it moved, over all processes that it was recorded for
  std::vector<Machine> machines;  ///< of a merged trial
};

/// What a trial that ends after this many blocks can decide, as known before it ends.
struct Reach {
  int blocks = 0;
  /// The least number of blocks for which some outcome is a FAIL, and the least for which a
  /// slowdown need not show in every block; empty if there is none.
  std::optional<std::size_t> least;
  std::optional<std::size_t> steady;
  double block_s = 0;   ///< what a block takes
  double before_s = 0;  ///< what first runs and counting took, before any block

  [[nodiscard]] bool can_fail() const { return least && *least <= std::size_t(blocks); }
  [[nodiscard]] bool is_steady() const { return steady && *steady <= std::size_t(blocks); }
};

/// The reach of a trial if it ended after `blocks`. What a block takes is expected, by the first
/// runs, as long as none is complete.
[[nodiscard]] Reach reach_of(const model::PairedTrial& trial, int blocks);

/// What first runs and counting have taken.
[[nodiscard]] double spent_before_blocks_s(const model::PairedTrial& trial);

/// What the trial has spent of its budget.
[[nodiscard]] double spent_s(const model::PairedTrial& trial);

/// What a block takes that measures as many benchmarks as the last complete one, by those before it
/// that did; 0 if there is none.
[[nodiscard]] double seconds_of_a_block(const model::PairedTrial& trial);

/// How many blocks fit into the budget, if they take as long as the last ones. At least as many as
/// there are, at most as many as the setup permits.
[[nodiscard]] int blocks_within(const model::PairedTrial& trial, double budget_s);

/// Whether this undecided CPU time prevents a PASS: it seems greater by what matters, or it was at
/// an earlier look.
[[nodiscard]] bool holds_back(const MetricVerdict& cpu);

/// Whether any of its metrics is undecided in a way that matters to the verdict of the trial, and
/// that more blocks may change.
[[nodiscard]] bool is_undecided(const BenchmarkVerdict& row);

/// Whether the benchmark fails by any of its metrics.
[[nodiscard]] bool fails(const BenchmarkVerdict& row);

/// How many blocks have all their processes.
[[nodiscard]] int complete_blocks(const model::PairedTrial& trial);

/// d of the first `blocks` complete blocks that have measured the benchmark.
[[nodiscard]] std::vector<double> block_differences(const model::PairedTrial& trial,
                                                    const std::string& name, int blocks);

/// Whether the last complete block has brought some benchmark to a look (stats/sequential.hpp).
[[nodiscard]] bool is_at_look(const model::PairedTrial& trial);

/// Judges each benchmark at each look that it has reached, and, if the trial has ended while it was
/// measured, at the end. Looks count the blocks that have measured it: a benchmark may leave, and
/// rest meanwhile, and counts for the others as stats::sign_flip_test says. The first look that
/// decides a benchmark gives its verdict; the figures are those of its last look, over all of its
/// blocks. A merged trial has one look, at its end, or one after each round.
[[nodiscard]] PairedReport judge(const model::PairedTrial& trial);

// What `taskbench ab --json` or `taskbench gate --json` has written.

struct PairedFile {
  enum class Outcome {
    judged,
    identical,  ///< both programs are the same; nothing was run
    failed,     ///< there is nothing to judge
    no_base,    ///< base has failed, and head is sound
  };
  Outcome outcome = Outcome::judged;
  model::PairedTrial trial{};      ///< read, if not judged: only the programs and `reproduce`
  PairedReport report{};           ///< of a judged trial
  model::PairedFailure failure{};  ///< of a failed trial, or of base
  std::string why{};               ///< of identical programs, a clause; older reports have none

  /// Empty if there is nothing to judge.
  [[nodiscard]] std::optional<Verdict> verdict() const;
};

}  // namespace taskbench::reports::verdict
