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

#include "reports/model/paired.hpp"
#include "reports/verdict/counter_move.hpp"
#include "reports/verdict/decision.hpp"
#include "reports/verdict/exact.hpp"

namespace taskbench::reports::verdict {

struct BenchmarkVerdict {
  std::string name;
  Verdict verdict = Verdict::inconclusive;
  bool improved = false;  ///< a PASS whose head is faster by what matters, by the mirrored rule
  int blocks = 0;         ///< that the verdict and the figures below rest on
  double base_ns = 0;     ///< per iteration, median over the processes
  double head_ns = 0;
  double change = 0;  ///< head over base, less 1: 0.1 is 10 % slower. Hodges-Lehmann
  /// Two-sided 95 % interval of `change`; empty when so few blocks can give none.
  std::optional<double> low;
  std::optional<double> high;
  double p = 1;           ///< of "not slower by more than epsilon"
  double p_adjusted = 1;  ///< the same, over all benchmarks (maxT)
  double epsilon = 0;     ///< the noise floor, relative
  double delta = 0;       ///< the smallest change that matters here: never below epsilon
  /// The change that a trial of so many blocks fails in four of five cases, relative; empty when
  /// none is, for want of blocks.
  std::optional<double> detectable;
  /// About how many blocks end in a verdict, if the change is what it seems; empty when no number
  /// does.
  std::optional<std::size_t> blocks_needed;
  std::vector<CounterMove> counters;                ///< those that moved most, at most three
  std::optional<InstructionsVerdict> instructions;  ///< where the trial counts them
};

struct PairedReport {
  std::vector<BenchmarkVerdict> benchmarks;  ///< in the order of the setup
  /// Of times and instructions: fail if one fails, else inconclusive if one is.
  Verdict overall = Verdict::pass;
  int blocks = 0;        ///< complete ones
  bool decided = false;  ///< no benchmark's time is left inconclusive
};

/// How many blocks have all their processes.
[[nodiscard]] int complete_blocks(const model::PairedTrial& trial);

/// d of the first `blocks` blocks, which are complete.
[[nodiscard]] std::vector<double> block_differences(const model::PairedTrial& trial,
                                                    const std::string& name, int blocks);

/// Whether the trial may be judged after as many blocks as it has: 8, 16, 32 and so on.
[[nodiscard]] bool is_at_look(const model::PairedTrial& trial);

/// Judges what there is at each look that the trial has come to, and, when it has ended, at its
/// end. The first look that decides a benchmark is the one that counts.
[[nodiscard]] PairedReport judge(const model::PairedTrial& trial);

}  // namespace taskbench::reports::verdict
