// Chooses the benchmarks that the next block of a paired trial measures. Decided benchmarks are
// left out, so blocks become shorter and the others get more of them. If the budget is too small
// for all, the benchmarks that seem slower after the first look (the screen) come first, then as
// many of the others as there is time for. The choice depends only on the trial, so a resumed trial
// continues in the same way. docs/design/measurement.md says why the error rates hold.
#pragma once

#include <cstddef>

#include "harness/files/names.hpp"
#include "reports/model/paired.hpp"
#include "reports/verdict/paired.hpp"

namespace taskbench::harness {

/// Blocks that decide most benchmarks: a trial that has time for this many of all needs no screen.
inline constexpr int kEnoughBlocks = 32;
/// Blocks after which a benchmark chosen by the screen gives way to others.
inline constexpr int kDeepBlocks = 64;
/// With fewer benchmarks than this, a process hardly gets shorter: starting it takes time, too.
inline constexpr std::size_t kFewest = 16;

/// Whether the time metrics that count are decided, and a later look confirms the decision.
[[nodiscard]] bool has_settled(const verdict::BenchmarkVerdict& row);

/// The probable names of benchmarks that belong to these files: the file names without folder and
/// extension. Empty if there are too many files to be of any help.
[[nodiscard]] Strings names_to_look_for(const Strings& files);

/// How soon a benchmark is wanted; lower is sooner: named by --changed-first; named like a file
/// that differs between the revisions; neither.
[[nodiscard]] int wanted_turn(const model::PairedSetup& setup, const std::string& name);

/// The content of the next block.
struct NextBlock {
  Strings benchmarks;            ///< in the order of the setup; empty if there is none
  bool all_are_decided = false;  ///< the reason for having none
  double seconds = 0;            ///< expected duration; for the first block, a lower bound
};

[[nodiscard]] NextBlock next_block(const model::PairedTrial& trial, double budget_s);

}  // namespace taskbench::harness
