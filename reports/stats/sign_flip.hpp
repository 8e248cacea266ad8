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

/// The least adjusted p of a test with this many blocks, and so many workloads that are `absent`,
/// as sign_flip_test() understands it: lower levels, or this one, are never reached.
[[nodiscard]] double least_p(std::size_t blocks, std::size_t absent = 0);

/// Every value has its score, however great it is.
inline constexpr double kNothingOutlies = std::numeric_limits<double>::infinity();

/// The direction of the change that is looked for.
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
/// The statistic is Wilcoxon's: the values d - shift are ranked by size without their signs (ties
/// share the middle rank, zeros have the least), and the ranks of the negative ones are subtracted
/// from those of the positive ones. It is preferred to the sum, which is Student's t under flips,
/// because
///  - the noise has heavy tails, and one outlier in a sum drowns the other blocks. In a simulation
///    of 4 correlated workloads at the levels of the looks, the sum found 3 to 9 % of the trials
///    more at 16 blocks, as much at 32 and 64 of normal noise, and at 64 blocks 9 % fewer of
///    Laplace's, 35 % fewer of Student's with 2 degrees of freedom;
///  - it has the same distribution for each workload, so that the maximum below treats quiet and
///    noisy workloads alike;
///  - its estimate is hodges_lehmann, and its interval is confidence_interval (walsh.hpp), exact
///    for any number of blocks: the three speak of the same thing;
///  - with ranks as whole numbers, ties between flips are exact.
/// It is divided by the root of the sum of the squared ranks, which differs between workloads only
/// if there are zeros or ties. Differences that all equal the shift have the statistic 0 and p 1.
///
/// p is the share of sign patterns whose statistic is not below the observed one: of all 2^n, or
/// (1 + count) / (1 + N) of N = kRandomFlips ones drawn from the seed, which is then the only thing
/// it depends on besides the data. Its level is exact in either case: P(p <= a) <= a.
///
/// p_adjusted is the p of the greatest statistic of several workloads, with the same flips applied
/// to each (step-down maxT: Westfall and Young, Resampling-based multiple testing, 1993). For the
/// workload with the greatest observed statistic, "several" means all; for each further one, those
/// that are not ahead of it; and its p_adjusted is never below that of one that is ahead. So
/// workloads that are noisy together cost little, those that have surely changed cost the others
/// nothing, and the chance that any workload without a change gets a p_adjusted <= a is at most a,
/// whatever the others do: the first of those is compared with a set that contains all of them.
///
/// Ranks alone cannot distinguish a workload that is slower by far from one that is not: under the
/// flips that turn all of its differences upwards, which exist for each workload, any has the
/// greatest statistic there is. With W workloads p_adjusted would then never be below W / 2^n,
/// however great the change. So if ranks are equal, workloads are compared by the sum of the
/// differences less the shift, divided by the root of the sum of their squares. That is near its
/// greatest value for differences that are all alike, as those of a great change are, and less for
/// noise that has been turned upwards. The least p_adjusted is 2^-n, for any number of workloads,
/// and none is greater than without this comparison. Under a workload's own flips equal ranks count
/// as reached, as they do in p.
///
/// `absent` further workloads belong to the family, but were not measured in all of these blocks.
/// For each, p_adjusted grows by the chance that ranks without ties reach the observed statistic.
/// That is Boole's bound of what p_adjusted would be, had they been measured, so its promise holds
/// however it was chosen which are absent: those that seemed unchanged may stay away. A workload
/// that has been rejected belongs to the family no more (step-down), and is not to be counted.
///
/// A value whose size |d - shift| is more than `outlying` times the median size has no score, for
/// either sign. Which ones that are does not depend on signs, so the level is as exact as without;
/// but one observation that is always on the same side, and far off, does not raise it any more.
///
/// Throws std::invalid_argument for no workloads, no blocks, workloads of unequal length, a shift
/// too many or too few, and values that are not finite.
[[nodiscard]] SignFlipResult sign_flip_test(std::span<const std::vector<double>> differences,
                                            std::span<const double> shifts, Direction direction,
                                            std::uint64_t seed, std::size_t absent = 0,
                                            double outlying = kNothingOutlies);

}  // namespace taskbench::reports::stats
