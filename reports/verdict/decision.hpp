// Derives the verdict on one workload from its statistics.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>

namespace taskbench::reports::verdict {

enum class Verdict { pass, fail, inconclusive };
inline constexpr std::array<std::string_view, 3> kVerdictWords{"PASS", "FAIL", "INCONCLUSIVE"};

[[nodiscard]] constexpr std::string_view word(Verdict verdict) {
  return kVerdictWords[static_cast<std::size_t>(verdict)];
}

/// A benchmark is blind if it could not have shown a slowdown of this many times the smallest one
/// that matters: that it showed none then means nothing.
inline constexpr double kBlindFactor = 5;

/// Whether a benchmark has no verdict and is blind. It is not if the upper end `high` of its
/// interval excludes such a slowdown. Both arguments are relative changes, and may be empty.
[[nodiscard]] constexpr bool is_blind(Verdict verdict, std::optional<double> detectable,
                                      std::optional<double> high, double delta) {
  const double large = kBlindFactor * delta;
  return verdict == Verdict::inconclusive && !(detectable && *detectable <= large) &&
         !(high && *high < large);
}

/// The value; empty if it is not finite.
[[nodiscard]] inline std::optional<double> finite(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

/// A log ratio as a relative change: 0.1 is 10 % slower. Empty if it is not finite.
[[nodiscard]] inline std::optional<double> finite_change(double log_ratio) {
  return std::isfinite(log_ratio) ? std::optional(std::expm1(log_ratio)) : std::nullopt;
}

/// Level of the intervals shown with a verdict, which rests on a test of its own.
inline constexpr double kIntervalLevel = 0.95;

/// The statistics of one workload at one look. Effects are log ratios of candidate over baseline:
/// above 0 is slower.
struct Evidence {
  double effect = 0;             ///< estimate, hodges_lehmann
  double p_slower_adjusted = 1;  ///< of sign_flip_test, Direction::slower, shift ln(1 + epsilon)
  double p_faster_adjusted = 1;  ///< likewise, Direction::faster
  double upper_bound = 0;        ///< of the effect, at the look's pass_error; may be infinite
};

/// Relative changes: 0.03 is 3 %.
struct Thresholds {
  double epsilon = 0;  ///< the noise floor
  double delta = 0;    ///< the smallest change that matters; raised to epsilon if below
  double alpha = 0;    ///< of this look
};

/// The thresholds of a requested metric, without alpha. For a metric of which more is better,
/// `delta` is a decrease: base is larger by more than that. The noise floor of times says little
/// about other metrics, so it counts only up to a third of the smallest change that matters.
[[nodiscard]] constexpr Thresholds thresholds_asked_for(double delta, bool more_is_better,
                                                        double floor_of_times) {
  const double matters = more_is_better ? 1 / (1 - delta) - 1 : delta;
  return {.epsilon = matters / 3 < floor_of_times ? matters / 3 : floor_of_times, .delta = matters};
}

struct Decision {
  Verdict verdict = Verdict::inconclusive;
  bool improved = false;  ///< a PASS, and faster by at least delta, with the certainty of a FAIL
};

/// FAIL: p_slower_adjusted < alpha and effect >= ln(1 + delta). Improved: the mirror image,
/// p_faster_adjusted < alpha and effect <= -ln(1 + delta), unless layouts lift the upper bound to
/// what matters all the same. PASS: improved, or upper_bound < ln(1 + delta). Otherwise
/// inconclusive. FAIL and PASS exclude each other, since an upper bound is never below the
/// estimate.
///
/// Throws std::invalid_argument if a number is NaN or infinite (except for upper_bound =
/// +infinity), a p is outside 0 to 1, alpha is not between 0 and 1 (0 is allowed: no look, no
/// FAIL), a threshold is negative, or the upper bound is below the estimate.
[[nodiscard]] Decision decide(const Evidence& evidence, const Thresholds& thresholds);

}  // namespace taskbench::reports::verdict
