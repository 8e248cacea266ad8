// When a change between two programs is a regression: the verdicts of a paired trial. Pure: the
// same trial gives the same report, bit for bit. The method and its references are in
// docs/design/measurement.md.
//
// For benchmark w and block i, x is ln(time per iteration) of a process, and
//     d[w][i] = ((x of head + x of head) - (x of base + x of base)) / 2.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/model/drift.hpp"
#include "reports/model/paired.hpp"
#include "reports/verdict/counter_move.hpp"
#include "reports/verdict/decision.hpp"
#include "reports/verdict/exact.hpp"
#include "reports/verdict/metric.hpp"

namespace taskbench::reports::verdict {

/// Of its wall time, with what else is known of the benchmark.
struct BenchmarkVerdict : MetricVerdict {
  std::string name;
  /// Of its CPU time, where the trial judges it and every process had some. Its delta is what
  /// matters of the CPU time and of what it sleeps, together: a program that sleeps most of the
  /// time may use half as much again of next to nothing. What it waits for a CPU does not count.
  std::optional<MetricVerdict> cpu;
  std::vector<CounterMove> counters;                ///< those that moved most, at most three
  std::optional<InstructionsVerdict> instructions;  ///< where the trial counts them
};

struct PairedReport {
  std::vector<BenchmarkVerdict> benchmarks;  ///< in the order of the setup
  /// Of wall times, CPU times and instructions: fail if one fails, else inconclusive if one is. CPU
  /// times that are undecided count only where more seems to be used: see holds_back().
  Verdict overall = Verdict::pass;
  int blocks = 0;           ///< complete ones
  bool decided = false;     ///< more blocks would decide nothing that matters to `overall`
  bool could_fail = false;  ///< some outcome of so many blocks was a FAIL, or of the instructions
  /// Benchmarks without a verdict that could not have seen kBlindFactor times --delta; of their CPU
  /// time, times its own delta.
  std::vector<std::string> blind;
  double interval_level = kIntervalLevel;  ///< of each interval
  model::Drift machine;  ///< what of it moved, over all processes that it was recorded for
};

/// What a trial that ends after so many blocks can decide, as known before it ends.
struct Reach {
  int blocks = 0;
  /// The least number of blocks of which some outcome is a FAIL, and the least of which a slowdown
  /// need not show in each block alike; empty when none is.
  std::optional<std::size_t> least;
  std::optional<std::size_t> steady;
  double block_s = 0;  ///< what a block takes

  [[nodiscard]] bool can_fail() const { return least && *least <= std::size_t(blocks); }
  [[nodiscard]] bool is_steady() const { return steady && *steady <= std::size_t(blocks); }
};

/// Of a trial with at least one complete block, were it to end after `blocks`.
[[nodiscard]] Reach reach_of(const model::PairedTrial& trial, int blocks);

/// How many blocks fit into the budget, if they take as long as those that are complete. At least
/// as many as these, at most those of the setup.
[[nodiscard]] int blocks_within(const model::PairedTrial& trial, double budget_s);

/// Whether this undecided CPU time stands in the way of a PASS: it seems greater by what matters,
/// or it was at an earlier look.
[[nodiscard]] bool holds_back(const MetricVerdict& cpu);

/// How many blocks have all their processes.
[[nodiscard]] int complete_blocks(const model::PairedTrial& trial);

/// d of the first `blocks` blocks, which are complete.
[[nodiscard]] std::vector<double> block_differences(const model::PairedTrial& trial,
                                                    const std::string& name, int blocks);

/// Whether the trial may be judged after as many blocks as it has: 8, 16, 32 and so on.
[[nodiscard]] bool is_at_look(const model::PairedTrial& trial);

/// Judges what there is at each look that the trial has come to, and, when it has ended, at its
/// end. The first look that decides a benchmark gives its verdict; the figures are those of the
/// last one, of all blocks.
[[nodiscard]] PairedReport judge(const model::PairedTrial& trial);

// What `taskbench ab --json` and `taskbench gate --json` have written, as it was read.

struct PairedFile {
  enum class Outcome {
    judged,
    identical,  ///< both programs are the same; nothing was run
    failed,     ///< there is nothing to judge
    no_base,    ///< base has failed, and head is sound
  };
  Outcome outcome = Outcome::judged;
  model::PairedTrial trial;      ///< but for a judged one: only the programs and `reproduce`
  PairedReport report;           ///< of a judged one
  model::PairedFailure failure;  ///< of a failed one, or of base
  std::string why;               ///< of identical ones, a clause; an older report has none
};

}  // namespace taskbench::reports::verdict
