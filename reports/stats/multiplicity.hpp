// Adjusted p-values for several tests with different samples. If the tests share blocks, maxT finds
// more (sign_flip.hpp).
//
// If tests with an adjusted p <= a are rejected, the chance of rejecting any true hypothesis is at
// most a.
#pragma once

#include <span>
#include <vector>

namespace taskbench::reports::stats {

/// Holm's procedure (A simple sequentially rejective multiple test procedure, 1979): the smallest p
/// times m, the next times m - 1 and so on, none less than the one before. Valid under any
/// dependence between the tests. Results are in the order of the arguments. Throws
/// std::invalid_argument for no values and for values that are not between 0 and 1.
[[nodiscard]] std::vector<double> holm(std::span<const double> p);

}  // namespace taskbench::reports::stats
