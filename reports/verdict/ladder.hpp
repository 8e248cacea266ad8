// The gain of each step of a ladder. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "reports/model/ladder.hpp"
#include "reports/stats/interval.hpp"

namespace taskbench::reports::verdict {

/// Confidence of each interval. A ladder of all workloads has some three hundred steps, so at 95 %
/// many steps without a gain would seem to have one.
inline constexpr double kLadderConfidence = 0.99;

/// A speed-up factor. Estimated from the ratios within the blocks, by signed ranks of their
/// logarithms (stats/walsh.hpp): effects on a whole block cancel.
struct Gain {
  double ratio = 1;
  std::optional<stats::Interval> interval{};  ///< empty: too few blocks

  /// Whether its interval excludes 1.
  [[nodiscard]] bool is_sure() const {
    return interval && (interval->low > 1 || interval->high < 1);
  }
};

struct LadderRow {
  double median_ns = 0;         ///< over the blocks
  std::optional<Gain> step{};   ///< over the rung below; the lowest has none
  std::optional<Gain> total{};  ///< over the lowest rung, which has none
};

struct LadderVerdict {
  std::string workload;
  std::size_t blocks = 0;
  std::vector<LadderRow> rows;  ///< one for each rung
  const model::DocumentedTotal* documented = nullptr;
};

/// The verdict on each workload that has a block.
[[nodiscard]] std::vector<LadderVerdict> climb(const model::Ladder& ladder);

}  // namespace taskbench::reports::verdict
