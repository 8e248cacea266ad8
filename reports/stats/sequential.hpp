// When a trial may be judged, and how much of its error each judgement may spend. Whoever looks
// after every block finds a "significant" difference in the end; here the errors of all looks sum
// up to the error that was promised (Bonferroni's inequality: no assumption on how looks depend on
// each other, and therefore on the cautious side).
#pragma once

#include <array>
#include <cstddef>
#include <optional>

namespace taskbench::reports::stats {

/// One judgement of a trial.
struct Look {
  std::size_t blocks = 0;
  double alpha = 0;       ///< a FAIL needs an adjusted p below this
  double pass_error = 0;  ///< a PASS needs an upper bound whose error is this
};

inline constexpr std::array<std::size_t, 4> kLookBlocks = {8, 16, 32, 64};

/// Shares of the two errors at each look. Of 8 blocks the smallest p that exists is 2^-8 = 0.0039:
///  - FAIL, with alpha = 0.01, cannot happen there (0.0005), and is not meant to: late looks have
///    the power, so they get the error.
///  - PASS, with an error of 0.05, can (0.005), when all 8 differences lie below the change that
///    matters. Most trials are of changes that change nothing; they should end early.
inline constexpr std::array<double, 4> kAlphaShares = {0.05, 0.15, 0.30, 0.50};
inline constexpr std::array<double, 4> kPassShares = {0.10, 0.20, 0.30, 0.40};

/// The looks of a trial whose chance of a false FAIL (of any workload) is to be alpha and whose
/// chance of a false PASS (of a given workload) pass_error. Throws std::invalid_argument unless
/// both lie between 0 and 1.
[[nodiscard]] std::array<Look, 4> looks(double alpha, double pass_error);

/// Which look is due after so many complete blocks, if one is.
[[nodiscard]] std::optional<std::size_t> look_index(std::size_t blocks);

/// The judgement of a trial that ends for good after so many blocks: it spends all that the looks
/// at fewer blocks have left, and takes the place of a look at just so many. 0 of either after more
/// than 64: then nothing can fail, and the upper bound is infinite. Only for an end that the
/// measured differences had no part in, such as the time budget, and only once: a trial that goes
/// on afterwards has no error left to spend. Throws as looks().
[[nodiscard]] Look last_look(std::size_t blocks, double alpha, double pass_error);

}  // namespace taskbench::reports::stats
