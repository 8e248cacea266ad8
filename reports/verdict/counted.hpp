// Judges what was counted of a benchmark of a paired trial: its instructions, and their kinds.
// Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/model/paired.hpp"
#include "reports/verdict/exact.hpp"

namespace taskbench::reports::verdict {

/// The verdicts on the counts of one benchmark.
struct Counted {
  /// Empty if the trial has no comparable counts of it, and is not asked to judge them.
  std::optional<InstructionsVerdict> instructions;
  std::vector<KindVerdict> kinds;  ///< those that were counted on both sides
  /// Why there are no verdicts, a clause: it could not be counted, or the counts do not repeat.
  /// Empty also if nobody has tried.
  std::string reason;

  /// Whether anything that was counted differs by what counts as a change.
  [[nodiscard]] bool has_moved() const;
};

/// Whether the counts of both sides are the same, in everything that was counted. Then one process
/// of each is enough: it repeats the other's.
[[nodiscard]] bool agree(const model::InstructionSample& base,
                         const model::InstructionSample& head);

/// Judges the kinds that were counted on both sides. `acknowledged` are those that may grow.
[[nodiscard]] std::vector<KindVerdict> judge_kinds(
    const model::InstructionSample& base, const model::InstructionSample& head,
    const std::vector<std::string>& acknowledged = {});

/// Judges the counts of one benchmark. With counts_first, only counts that repeat are judged, and
/// only those of kinds can fail.
[[nodiscard]] Counted judge_counted(const model::PairedTrial& trial, const std::string& benchmark);

/// Judges what the program itself counts in the processes that are timed, allocations and their
/// bytes, as far as all processes of a side say the same.
[[nodiscard]] std::vector<KindVerdict> judge_own_counts(const model::PairedTrial& trial,
                                                        const std::string& benchmark);

}  // namespace taskbench::reports::verdict
