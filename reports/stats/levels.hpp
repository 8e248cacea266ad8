// Fits the level of each member to differences between pairs. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace taskbench::reports::stats {

/// A measured difference: the level of `to` less that of `from`, both indices of members.
struct PairDifference {
  std::size_t from = 0;
  std::size_t to = 0;
  double difference = 0;
};

/// The level of each of `members`, up to a constant: their mean is 0. In this least-squares fit, a
/// member's level is influenced by all its differences and by those around it, and random errors
/// average out (Mosteller, Remarks on the method of paired comparisons, Psychometrika 16, 1951).
/// Throws std::invalid_argument for fewer than two members, for an index out of range, and if some
/// members have no link to the others.
[[nodiscard]] std::vector<double> fitted_levels(std::size_t members,
                                                std::span<const PairDifference> differences);

}  // namespace taskbench::reports::stats
