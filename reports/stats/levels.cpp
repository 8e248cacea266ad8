#include "reports/stats/levels.hpp"

#include <stdexcept>
#include <tuple>

#include "reports/stats/summary.hpp"

namespace taskbench::reports::stats {

std::vector<double> fitted_levels(std::size_t members,
                                  std::span<const PairDifference> differences) {
  if (members < 2) throw std::invalid_argument("levels take two members at least");
  // The normal equations. Each row says that a member's level is the mean of what its differences
  // to the others imply. The last member's level is set to 0; otherwise they would be singular.
  const std::size_t unknowns = members - 1;
  std::vector<std::vector<double>> rows(members, std::vector<double>(members + 1));
  for (const auto& [from, to, difference] : differences) {
    if (from >= members || to >= members || from == to) {
      throw std::invalid_argument("a difference is of no two members");
    }
    for (const auto& [self, other, sign] :
         {std::tuple(from, to, -1.0), std::tuple(to, from, 1.0)}) {
      rows[self][self] += 1;
      rows[self][other] -= 1;
      rows[self][members] += sign * difference;
    }
  }
  // The equations of a connected graph are positive definite: elimination needs no pivoting, and a
  // pivot of 0 means a member without a link to the last one.
  constexpr double kSingular = 1e-9;
  for (std::size_t pivot = 0; pivot < unknowns; ++pivot) {
    if (rows[pivot][pivot] < kSingular) {
      throw std::invalid_argument("the differences leave members without a link to the others");
    }
    for (std::size_t below = pivot + 1; below < unknowns; ++below) {
      const double factor = rows[below][pivot] / rows[pivot][pivot];
      for (std::size_t column = pivot; column <= members; ++column) {
        rows[below][column] -= factor * rows[pivot][column];
      }
    }
  }
  std::vector<double> levels(members);
  for (std::size_t member = unknowns; member-- > 0;) {
    double rest = rows[member][members];
    for (std::size_t other = member + 1; other < unknowns; ++other) {
      rest -= rows[member][other] * levels[other];
    }
    levels[member] = rest / rows[member][member];
  }
  const double centre = mean(levels);
  for (double& level : levels) level -= centre;
  return levels;
}

}  // namespace taskbench::reports::stats
