// When a trial may be judged, and how much of its error each judgement may spend. Looking after
// every block eventually finds a "significant" difference; here the errors of all looks add up to
// the promised error (Bonferroni's inequality, which makes no assumption on the dependence between
// looks, and is therefore conservative).
#pragma once

#include <cstddef>
#include <vector>

namespace taskbench::reports::stats {

/// The chances of a wrong verdict, over all looks of a trial.
struct TrialErrors {
  double alpha = 0.01;       ///< of a false FAIL of any workload
  double pass_error = 0.05;  ///< of a false PASS of one workload
  std::size_t max_blocks = 1000;
  bool at_once = false;  ///< both errors are spent at one look, at the end
};

/// One interim judgement of a trial.
struct Look {
  std::size_t blocks = 0;
  double alpha = 0;       ///< a FAIL needs an adjusted p below this
  double pass_error = 0;  ///< a PASS needs an upper bound whose error is this
};

/// The looks of a trial: at 8 blocks, from there on at each fourth root of two, rounded, and at the
/// end (docs/adr/0037). Throws std::invalid_argument for no blocks, and unless both errors lie
/// between 0 and 1.
///
/// The first of several looks gets four tenths of alpha and a tenth of pass_error; the others have
/// equal parts of the rest (docs/adr/0055). With alpha = 0.01, the first can just FAIL: the
/// smallest p of 8 blocks is 2^-8 = 0.0039, and a great slowdown ends the trial there. With
/// pass_error = 0.05, a PASS at 8 blocks can happen (0.005), if all differences lie below the
/// change that matters. A look whose part of alpha permits no FAIL leaves it to the next one.
[[nodiscard]] std::vector<Look> looks(const TrialErrors& errors);

/// Looks after these numbers of observations, in this order, which share the errors like the looks
/// of a trial. A single look has all of both errors.
[[nodiscard]] std::vector<Look> looks_at(const std::vector<std::size_t>& observations,
                                         const TrialErrors& errors);

/// The judgement of a trial that ends for good after this many blocks. It spends all that the looks
/// at fewer blocks have left, and replaces a look at the same number. Both errors are 0 after more
/// than max_blocks: then nothing can fail, and the upper bound is infinite. Only for an end that
/// does not depend on the measured differences, such as that of the time budget, and only once: a
/// trial that continued would have no error left to spend. Throws as looks() does.
[[nodiscard]] Look last_look(std::size_t blocks, const TrialErrors& errors);

}  // namespace taskbench::reports::stats
