// Compares instruction counts of one benchmark on two sides: without statistics if the counts
// repeat. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "reports/verdict/decision.hpp"

namespace taskbench::reports::verdict {

/// Smaller relative changes never fail. Another patch level of the compiler, or another libc,
/// changes less; so would what a clock could show.
inline constexpr double kExactDelta = 0.002;

/// The least number of counts a side that shows whether they repeat.
inline constexpr std::size_t kLeastExactCounts = 2;

struct ExactChange {
  double base = 0;  ///< instructions per iteration, median over the counts
  double head = 0;
  double change = 0;  ///< relative: 0.01 is 1 % more
  /// Relative; a greater change counts. kExactDelta if the counts of each side are equal; if not,
  /// at least Q3 + 3 IQR (Tukey's outer fence) of the relative differences between two counts of
  /// one side.
  double threshold = 0;
  bool repeats = false;  ///< whether all counts of a side are equal, on both sides

  [[nodiscard]] bool is_worse() const { return change > threshold; }
  [[nodiscard]] bool is_better() const { return change < -threshold; }
};

/// The verdict on instructions, a metric besides the times of a benchmark.
struct InstructionsVerdict {
  Verdict verdict = Verdict::inconclusive;
  std::optional<ExactChange> exact;  ///< empty: one side has no counts
  std::string reason;                ///< why it is inconclusive; empty otherwise

  [[nodiscard]] bool improved() const { return verdict == Verdict::pass && exact->is_better(); }
};

/// FAIL if head takes more by more than the threshold, else PASS. Throws std::invalid_argument for
/// fewer counts on a side than kLeastExactCounts, and for counts that are not positive and finite.
[[nodiscard]] InstructionsVerdict judge_instructions(std::span<const double> base,
                                                     std::span<const double> head);

}  // namespace taskbench::reports::verdict
