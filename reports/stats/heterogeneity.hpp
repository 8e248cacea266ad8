// Whether several workloads differ between groups of observations, such as machines, by more than
// the observations of a group differ: one-way analysis of variance, by permutation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace taskbench::reports::stats {

/// How much the groups of one workload differ.
struct Heterogeneity {
  /// The standard deviation between the true means of the groups, estimated from the mean squares;
  /// 0 if the observations scatter enough to explain all differences.
  double deviation = 0;
  /// P(the greatest share of the variance that the groups explain in any of the workloads, if they
  /// mean nothing, is as great as the share here): adjusted over the workloads, which share the
  /// permutations (Westfall and Young).
  double p_adjusted = 1;
};

/// The number of permutations beside the observed one.
inline constexpr std::size_t kPermutations = 999;

/// Compares the groups of each workload, a row of observations. `groups` says to which group
/// each place of the rows belongs. Without two groups, or without a group of two, nothing is
/// known: p is 1. Throws std::invalid_argument for rows of another length than `groups`, and for
/// values that are not finite.
[[nodiscard]] std::vector<Heterogeneity> heterogeneity(std::span<const std::vector<double>> rows,
                                                       const std::vector<std::size_t>& groups,
                                                       std::uint64_t seed);

}  // namespace taskbench::reports::stats
