// Tests whether several workloads differ between groups of observations, such as machines, by more
// than the scatter within groups: one-way analysis of variance, by permutation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace taskbench::reports::stats {

/// How much the groups of one workload differ.
struct Heterogeneity {
  /// The standard deviation between the true means of the groups, estimated from the mean squares;
  /// 0 if the scatter of the observations explains all differences.
  double deviation = 0;
  /// P(under the null hypothesis, the greatest share of variance that the groups explain in any
  /// workload is at least the share here): adjusted over the workloads, which share the
  /// permutations (Westfall and Young).
  double p_adjusted = 1;
};

/// The number of random permutations, in addition to the observed one.
inline constexpr std::size_t kPermutations = 999;

/// Compares the groups of each workload, a row of observations. `groups` has the group of each
/// place in the rows. Without two groups, or without a group of two, p is 1, since nothing is
/// known. Throws std::invalid_argument for rows that differ in length from `groups`, and for values
/// that are not finite.
[[nodiscard]] std::vector<Heterogeneity> heterogeneity(std::span<const std::vector<double>> rows,
                                                       const std::vector<std::size_t>& groups,
                                                       std::uint64_t seed);

/// The standard deviation between the true means of the groups of one row, as in Heterogeneity.
/// Throws as heterogeneity() does.
[[nodiscard]] double deviation_between(const std::vector<double>& row,
                                       const std::vector<std::size_t>& groups);

}  // namespace taskbench::reports::stats
