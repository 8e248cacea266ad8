// Adjusted p-values for several tests whose samples differ. Where they share blocks, maxT finds
// more (sign_flip.hpp).
//
// An adjusted p <= a rejects with a chance of at most a that any true hypothesis is rejected. The
// results are in the order of the arguments. All throw std::invalid_argument for no values and for
// values that are not between 0 and 1.
#pragma once

#include <span>
#include <vector>

namespace taskbench::reports::stats {

/// m p, at most 1. Holds however the tests depend on each other.
[[nodiscard]] std::vector<double> bonferroni(std::span<const double> p);

/// 1 - (1 - p)^m. Exact for independent tests.
[[nodiscard]] std::vector<double> sidak(std::span<const double> p);

/// Bonferroni's step by step, the smallest p times m, the next times m - 1, ...: never worse, and
/// holds as generally (Holm, A simple sequentially rejective multiple test procedure, 1979).
[[nodiscard]] std::vector<double> holm(std::span<const double> p);

}  // namespace taskbench::reports::stats
