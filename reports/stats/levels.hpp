// From differences between pairs to the level of each member. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace taskbench::reports::stats {

/// A measured difference: the level of `to` less that of `from`, which are numbers of members.
struct PairDifference {
  std::size_t from = 0;
  std::size_t to = 0;
  double difference = 0;
};

/// The level of each of `members`, up to a constant: their mean is 0. In this least-squares fit,
/// all differences that a member takes part in, and those around it, contribute to its level, and
/// random errors average out (Mosteller, Remarks on the method of paired comparisons, Psychometrika
/// 16, 1951). Throws std::invalid_argument for fewer than two members, for a number that is not a
/// member's, and if some members have no link to the others.
[[nodiscard]] std::vector<double> fitted_levels(std::size_t members,
                                                std::span<const PairDifference> differences);

}  // namespace taskbench::reports::stats
