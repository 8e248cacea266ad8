// Adjusted p-values for several tests whose samples differ. Where they share blocks, maxT finds
// more (sign_flip.hpp).
//
// An adjusted p <= a rejects with a chance of at most a that any true hypothesis is rejected.
#pragma once

#include <span>
#include <vector>

namespace taskbench::reports::stats {

/// The smallest p times m, the next times m - 1 and so on, none less than the one before (Holm, A
/// simple sequentially rejective multiple test procedure, 1979). Holds however the tests depend on
/// each other. In the order of the arguments. Throws std::invalid_argument for no values and for
/// values that are not between 0 and 1.
[[nodiscard]] std::vector<double> holm(std::span<const double> p);

}  // namespace taskbench::reports::stats
