// When a trial may be judged, and how much of its error each judgement may spend. Whoever looks
// after every block finds a "significant" difference in the end; here the errors of all looks sum
// up to the error that was promised (Bonferroni's inequality: no assumption on how looks depend on
// each other, and therefore on the cautious side).
#pragma once

#include <cstddef>
#include <vector>

namespace taskbench::reports::stats {

/// What a trial may be wrong with, over all of its looks.
struct TrialErrors {
  double alpha = 0.01;       ///< of a false FAIL of any workload
  double pass_error = 0.05;  ///< of a false PASS of one workload
  std::size_t max_blocks = 256;
};

/// One judgement of a trial.
struct Look {
  std::size_t blocks = 0;
  double alpha = 0;       ///< a FAIL needs an adjusted p below this
  double pass_error = 0;  ///< a PASS needs an upper bound whose error is this
};

/// The looks of a trial: at 8 blocks, at each doubling, and at the end. Throws
/// std::invalid_argument for no blocks and unless both errors lie between 0 and 1.
///
/// Of alpha the looks get shares as 1 : 3 : 6 : 10 : 15 ..., the triangular numbers: late looks
/// have the power, so they get the error. Of 8 blocks the smallest p that exists is 2^-8 = 0.0039;
/// FAIL, with alpha = 0.01, cannot happen there, and is not meant to.
///
/// Of pass_error the first look of several gets a tenth, the others share the rest as 2 : 3 : 4
/// ...: with 0.05, a PASS at 8 blocks can happen (0.005), when all differences lie below the change
/// that matters. Most trials are of changes that change nothing; they should end early.
[[nodiscard]] std::vector<Look> looks(const TrialErrors& errors);

/// Whether one of them is due after so many complete blocks.
[[nodiscard]] bool is_look(std::size_t blocks, std::size_t max_blocks);

/// The judgement of a trial that ends for good after so many blocks: it spends all that the looks
/// at fewer blocks have left, and takes the place of a look at just so many. 0 of either after more
/// than max_blocks: then nothing can fail, and the upper bound is infinite. Only for an end that
/// the measured differences had no part in, such as the time budget, and only once: a trial that
/// goes on afterwards has no error left to spend. Throws as looks().
[[nodiscard]] Look last_look(std::size_t blocks, const TrialErrors& errors);

}  // namespace taskbench::reports::stats
