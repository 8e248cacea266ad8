// Judges the counts of a benchmark in a paired trial: its instructions, and their kinds. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/model/paired.hpp"
#include "reports/verdict/exact.hpp"

namespace taskbench::reports::verdict {

/// The verdicts on the counts of one benchmark.
struct Counted {
  /// Empty if the trial has no comparable counts of it, and was not asked to judge them.
  std::optional<InstructionsVerdict> instructions;
  std::vector<KindVerdict> kinds;  ///< those that were counted on both sides
  /// Why there are no verdicts, as a clause: it could not be counted, or the counts do not repeat.
  /// Also empty if counting was not attempted.
  std::string reason;

  /// Whether any count differs by enough to be a change.
  [[nodiscard]] bool has_moved() const;
};

/// Whether all counts of one side are equal, so that they repeat.
[[nodiscard]] bool all_equal(const std::vector<double>& counts);

/// Whether all counts of both sides are equal. Then one process of each side is enough: it repeats
/// the other's.
[[nodiscard]] bool agree(const model::InstructionSample& base,
                         const model::InstructionSample& head);

/// Judges the kinds that were counted on both sides. Those in `acknowledged` may grow.
[[nodiscard]] std::vector<KindVerdict> judge_kinds(
    const model::InstructionSample& base, const model::InstructionSample& head,
    const std::vector<std::string>& acknowledged = {});

/// Judges the counts of one benchmark. With counts_first, only counts that repeat are judged, and
/// only those of kinds can fail.
[[nodiscard]] Counted judge_counted(const model::PairedTrial& trial, const std::string& benchmark);

/// Judges the program's own counts in the timed processes, allocations and their bytes, if all
/// processes of a side agree.
[[nodiscard]] std::vector<KindVerdict> judge_own_counts(const model::PairedTrial& trial,
                                                        const std::string& benchmark);

}  // namespace taskbench::reports::verdict
