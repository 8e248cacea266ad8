// Which benchmarks the next block of a paired trial measures. What is decided leaves, so that
// blocks become shorter and the others get more of them. Where the budget is too small for all,
// those that seem slower after the first look, which is the screen, come first, and a part of the
// others after them, as long as there is time. Pure: it depends on the trial alone, so that one
// that is resumed goes on in the same way. Why the errors hold: docs/design/measurement.md.
#pragma once

#include <cstddef>

#include "harness/trials/names.hpp"
#include "reports/model/paired.hpp"
#include "reports/verdict/paired.hpp"

namespace taskbench::harness {

/// Blocks that decide most benchmarks: a trial that has time for as many of all needs no screen.
inline constexpr int kEnoughBlocks = 32;
/// Blocks after which what the screen has chosen gives way to others.
inline constexpr int kDeepBlocks = 64;
/// Fewer benchmarks than these hardly make a process shorter: starting it takes time, too.
inline constexpr std::size_t kFewest = 16;

/// Whether the times of a benchmark that count are decided, and a later look bears that out.
[[nodiscard]] bool has_settled(const verdict::BenchmarkVerdict& row);

/// What benchmarks that belong to one of these files are probably called: the file's name without
/// folder and extension. Nothing, if there are too many files to point anywhere.
[[nodiscard]] Strings names_to_look_for(const Strings& files);

/// How soon a benchmark is wanted, the least first: --changed-first names it; it is called like a
/// file in which two revisions differ; or neither.
[[nodiscard]] int wanted_turn(const model::PairedSetup& setup, const std::string& name);

/// What the next block measures.
struct NextBlock {
  Strings benchmarks;            ///< in the order of the setup; empty if there is none
  bool all_are_decided = false;  ///< which is why
  double seconds = 0;            ///< that it will take, by those before it; of the first, at least
};

[[nodiscard]] NextBlock next_block(const model::PairedTrial& trial, double budget_s);

}  // namespace taskbench::harness
