// The sign-flip randomisation test of paired differences, for several workloads at once. VERDICTS
// part A, points 4 and 5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace taskbench::reports::stats {

/// Up to so many blocks all 2^n flips are made.
inline constexpr std::size_t kMaxExactBlocks = 16;
/// With more blocks, so many random ones.
inline constexpr std::size_t kRandomFlips = 10'000;

/// The least p of a test of so many blocks: a level that is not above it is never reached.
[[nodiscard]] double least_p(std::size_t blocks);

/// Which change is looked for.
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
/// differences[w][i] belongs to block i; all workloads have the same blocks. They and the shifts
/// are log ratios, but any common unit of a workload gives the same result.
///
/// The statistic is Wilcoxon's: the values d - shift are ranked by size without their signs (ties
/// share the middle rank, zeros have the least), and the ranks of the negative ones are subtracted
/// from those of the positive ones. Chosen over the sum, which is Student's t under flips, because
///  - the noise has heavy tails, and one outlier in a sum drowns the other blocks. In a simulation
///    of 4 correlated workloads at the levels of the looks, the sum found 3 to 9 % of the trials
///    more at 16 blocks, as much at 32 and 64 of normal noise, and at 64 blocks 9 % fewer of
///    Laplace's, 35 % fewer of Student's with 2 degrees of freedom;
///  - it has the same distribution for each workload, so that the maximum below treats quiet and
///    noisy workloads alike;
///  - its estimate is hodges_lehmann, and its interval ends at lower_bound and upper_bound
///    (walsh.hpp), exact for any number of blocks: the three speak of the same thing;
///  - with ranks as whole numbers, ties between flips are exact.
/// It is divided by the root of the sum of the squared ranks, which differs between workloads only
/// where there are zeros or ties. Differences that all equal the shift have the statistic 0 and
/// p 1.
///
/// p is the share of sign patterns whose statistic is not below the observed one: of all 2^n, or
/// (1 + count) / (1 + N) of N = kRandomFlips ones drawn from the seed, which is then the only thing
/// it depends on besides the data. Its level is exact in either case: P(p <= a) <= a.
///
/// p_adjusted is the same for the greatest statistic of all workloads, the same flips being applied
/// to each (single-step maxT: Westfall and Young, Resampling-based multiple testing, 1993). So
/// workloads that are noisy together cost little, and the chance that any workload without a change
/// gets a p_adjusted <= a is at most a.
///
/// Throws std::invalid_argument for no workloads, no blocks, workloads of unequal length, a shift
/// too many or too few, and values that are not finite.
[[nodiscard]] SignFlipResult sign_flip_test(std::span<const std::vector<double>> differences,
                                            std::span<const double> shifts, Direction direction,
                                            std::uint64_t seed);

}  // namespace taskbench::reports::stats
