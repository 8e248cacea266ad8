// The test that Google Benchmark's compare.py makes, to put its answer beside ours. Not used for
// verdicts: it takes the repetitions of one process for independent.
#pragma once

#include <span>

namespace taskbench::reports::stats {

enum class MannWhitneyMethod {
  automatic,   ///< as SciPy's "auto": exact when either sample has at most 8 values and none tie
  asymptotic,  ///< the normal approximation, corrected for ties and continuity
  exact,       ///< from all orders of the values; no ties, and O((n m)^2) time
};

/// Two-sided p of Mann and Whitney's U test that `a` and `b` have the same distribution; the number
/// of scipy.stats.mannwhitneyu(a, b, method=...). 1 when all values are equal.
///
/// Throws std::invalid_argument for an empty sample, values that are not finite, and `exact` with
/// ties.
[[nodiscard]] double mann_whitney_p(std::span<const double> a, std::span<const double> b,
                                    MannWhitneyMethod method = MannWhitneyMethod::automatic);

}  // namespace taskbench::reports::stats
