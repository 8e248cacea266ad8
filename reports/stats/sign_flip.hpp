// The sign-flip randomisation test of paired differences, for several workloads at once:
// docs/design/measurement.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace taskbench::reports::stats {

/// Up to this number of blocks, all 2^n flips are made.
inline constexpr std::size_t kMaxExactBlocks = 16;
/// The number of random flips with more blocks.
inline constexpr std::size_t kRandomFlips = 10'000;

/// The smallest adjusted p of a test with this many blocks, and with `absent` workloads in the
/// sense of sign_flip_test(): at this level or a lower one, nothing can be rejected.
[[nodiscard]] double least_p(std::size_t blocks, std::size_t absent = 0);

/// No outliers: every value has a score, however large it is.
inline constexpr double kNothingOutlies = std::numeric_limits<double>::infinity();

/// The direction of the change to be detected.
enum class Direction { slower, faster };

/// One entry for each workload, in the order of the differences.
struct SignFlipResult {
  std::vector<double> p;           ///< of the workload by itself
  std::vector<double> p_adjusted;  ///< over all workloads; never below p
};

/// Tests, for each workload w, that the differences scatter symmetrically around a centre of at
/// most shifts[w], against a greater one (Direction::slower); or that their centre is at least
/// -shifts[w], against a lesser one (Direction::faster: the same test of the negated differences).
///
/// differences[w][i] belongs to block i; all workloads have the same blocks. Differences and shifts
/// are log ratios, but any common unit of a workload gives the same result.
///
/// The statistic is Wilcoxon's: the values d - shift are ranked by absolute size (ties share the
/// middle rank, zeros have the lowest), and the ranks of the negative ones are subtracted from
/// those of the positive ones. It is preferred to the sum, which is Student's t under flips,
/// because
/// - the noise has heavy tails, and one outlier in a sum drowns the other blocks. In a simulation
///   of 4 correlated workloads at the levels of the looks, the sum detected the change in 3 to 9 %
///   more trials at 16 blocks and as many at 32 and 64 for normal noise, but at 64 blocks in 9 %
///   fewer for Laplace noise, and in 35 % fewer for Student's t with 2 degrees of freedom;
/// - it has the same distribution for each workload, so that the maximum below treats quiet and
///   noisy workloads alike;
/// - its estimate is hodges_lehmann, and its interval is confidence_interval (walsh.hpp), exact for
///   any number of blocks: test, estimate and interval are consistent;
/// - with ranks as whole numbers, ties between flips are exact.
///
/// It is divided by the root of the sum of the squared ranks, which differs between workloads only
/// if there are zeros or ties. Differences that all equal the shift have the statistic 0 and p 1.
///
/// p is the share of sign patterns whose statistic is not below the observed one: of all 2^n, or
/// (1 + count) / (1 + N) of N = kRandomFlips ones drawn from the seed, which is then its only input
/// besides the data. Its level is exact in either case: P(p <= a) <= a.
///
/// p_adjusted is the p of the greatest statistic of several workloads, with the same flips applied
/// to each (step-down maxT: Westfall and Young, Resampling-based multiple testing, 1993). For the
/// workload with the greatest observed statistic, "several" means all; for each further one, those
/// that are not ahead of it; and its p_adjusted is never below that of one that is ahead. So
/// workloads with correlated noise cost little, and those that have certainly changed cost the
/// others nothing. The chance that any workload without a change gets a p_adjusted <= a is at most
/// a, whatever the others do: the first of those is compared with a set that contains all of them.
///
/// Ranks alone cannot distinguish a far slower workload from an unchanged one: each workload has
/// flips that turn all of its differences upwards, and these give it the greatest possible
/// statistic. With W workloads p_adjusted would then never be below W / 2^n, however great the
/// change. So if ranks are equal, workloads are compared by the sum of the differences less the
/// shift, divided by the root of the sum of their squares. That is near its maximum for differences
/// that are all alike, as after a great change, and lower for noise that has been turned upwards.
/// The smallest p_adjusted is 2^-n, for any number of workloads, and none is greater than without
/// this comparison. Under a workload's own flips equal ranks count as reached, as they do in p.
///
/// `absent` further workloads belong to the family, but were not measured in all of these blocks.
/// For each, p_adjusted grows by the chance that ranks without ties reach the observed statistic.
/// That is Boole's bound on p_adjusted if they had been measured, so its guarantee holds however
/// the absent ones were chosen: those that seemed unchanged may stay away. A rejected workload no
/// longer belongs to the family (step-down), and must not be counted.
///
/// A value whose size |d - shift| is more than `outlying` times the median size has no score, for
/// either sign. The choice of these values does not depend on signs, so the level is as exact as
/// without it; but a single far-off observation that always has the same sign no longer raises it.
///
/// Throws std::invalid_argument for no workloads, no blocks, workloads of unequal length, a number
/// of shifts other than that of workloads, and values that are not finite.
[[nodiscard]] SignFlipResult sign_flip_test(std::span<const std::vector<double>> differences,
                                            std::span<const double> shifts, Direction direction,
                                            std::uint64_t seed, std::size_t absent = 0,
                                            double outlying = kNothingOutlies);

}  // namespace taskbench::reports::stats
