// Instruction counts of one benchmark on two sides: no statistics where the counts repeat.
// Pure.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "reports/verdict/decision.hpp"

namespace taskbench::reports::verdict {

/// Smaller changes fail nothing, relative. What another compiler's patch level or another libc
/// moves is less, and so is what a clock would see.
inline constexpr double kExactDelta = 0.002;

/// Fewer counts a side do not show whether they repeat.
inline constexpr std::size_t kLeastExactCounts = 2;

struct ExactChange {
  double base = 0;  ///< instructions per iteration, median over the counts
  double head = 0;
  double change = 0;  ///< relative: 0.01 is 1 % more
  /// Relative; a greater change counts. kExactDelta where the counts of each side are equal; where
  /// they are not, no less than Q3 + 3 IQR (Tukey's outer fence) of the relative differences
  /// between two counts of one side.
  double threshold = 0;
  bool repeats = false;  ///< all counts of a side are equal, on both sides

  [[nodiscard]] bool is_worse() const { return change > threshold; }
  [[nodiscard]] bool is_better() const { return change < -threshold; }
};

/// What is said of them beside the time of the benchmark: a metric of its own.
struct InstructionsVerdict {
  Verdict verdict = Verdict::inconclusive;
  std::optional<ExactChange> exact;  ///< empty: a side has not counted them
  std::string reason;                ///< why it is inconclusive; empty otherwise

  [[nodiscard]] bool improved() const { return verdict == Verdict::pass && exact->is_better(); }
};

/// FAIL when head takes more by more than the threshold, else PASS. Throws std::invalid_argument
/// for fewer counts on a side than kLeastExactCounts, and for any that is not positive and finite.
[[nodiscard]] InstructionsVerdict judge_instructions(std::span<const double> base,
                                                     std::span<const double> head);

}  // namespace taskbench::reports::verdict
