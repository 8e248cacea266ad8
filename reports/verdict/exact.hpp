// Compares the counts of one benchmark on two sides, of instructions and of their kinds: without
// statistics if the counts repeat. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "reports/verdict/decision.hpp"

namespace taskbench::reports::verdict {

/// Smaller relative changes never fail. Another patch level of the compiler or another libc can
/// cause them, and no clock could measure them.
inline constexpr double kExactDelta = 0.002;

/// The smallest number of counts per side that shows whether they repeat.
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

/// The verdict on instructions, a metric in addition to the times of a benchmark.
struct InstructionsVerdict {
  Verdict verdict = Verdict::inconclusive;
  std::optional<ExactChange> exact;  ///< empty: one side has no counts
  std::string reason;                ///< why it is inconclusive; empty otherwise
  bool acknowledged = false;         ///< it takes more, and the user has accepted that
  bool only_shown = false;           ///< not requested, so that it passes

  [[nodiscard]] bool improved() const { return verdict == Verdict::pass && exact->is_better(); }
};

/// FAIL if head takes more by more than the threshold, else PASS. Throws std::invalid_argument for
/// fewer counts on a side than kLeastExactCounts, and for counts that are not positive and finite.
[[nodiscard]] InstructionsVerdict judge_instructions(std::span<const double> base,
                                                     std::span<const double> head);

/// Smaller changes of a kind's count per iteration never fail. So few iterations are counted that
/// one event in each cannot be told from a one-time event.
inline constexpr double kLeastEvents = 0.5;

/// The verdict on the counts of one kind: fences, allocations and so on.
struct KindVerdict {
  std::string kind;
  Verdict verdict = Verdict::pass;
  double base = 0;  ///< per iteration, median over the counts
  double head = 0;
  /// Per iteration; a greater change counts. If the counts of each side are equal: the least that
  /// matters. If not, at least Q3 + 3 IQR of the differences between two counts of one side.
  double threshold = 0;
  bool repeats = false;
  bool acknowledged = false;

  [[nodiscard]] bool is_worse() const { return head - base > threshold; }
  [[nodiscard]] bool is_better() const { return base - head > threshold; }
};

/// Smaller changes do not matter.
struct LeastChange {
  double absolute = kLeastEvents;
  double relative = kExactDelta;  ///< to base

  [[nodiscard]] double of(double base) const {
    return absolute > relative * base ? absolute : relative * base;
  }
};

/// FAIL if head has more by more than the threshold, unless acknowledged. Throws
/// std::invalid_argument for fewer counts on a side than kLeastExactCounts, and for counts that are
/// negative or not finite.
[[nodiscard]] KindVerdict judge_kind(std::string kind, std::span<const double> base,
                                     std::span<const double> head, bool acknowledged,
                                     const LeastChange& least = {});

}  // namespace taskbench::reports::verdict
