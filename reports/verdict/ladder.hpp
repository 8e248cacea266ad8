// What each step of a ladder gains. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "reports/model/ladder.hpp"
#include "reports/stats/interval.hpp"

namespace taskbench::reports::verdict {

/// Confidence of each interval. A ladder has about ninety steps, so at 95 % some would seem to gain
/// something that do not.
inline constexpr double kLadderConfidence = 0.99;

/// How many times as fast. Estimated from the ratios within the blocks, by signed ranks of their
/// logarithms (stats/walsh.hpp): what affects a whole block cancels.
struct Gain {
  double ratio = 1;
  std::optional<stats::Interval> interval{};  ///< empty: too few blocks

  /// Whether it surely differs from 1.
  [[nodiscard]] bool is_sure() const {
    return interval && (interval->low > 1 || interval->high < 1);
  }
};

struct LadderRow {
  double median_ns = 0;         ///< over the blocks
  std::optional<Gain> step{};   ///< over the rung below; the lowest has none
  std::optional<Gain> total{};  ///< over the lowest rung; likewise
};

struct LadderVerdict {
  std::string workload;
  std::size_t blocks = 0;
  std::vector<LadderRow> rows;  ///< a rung each
  const model::DocumentedTotal* documented = nullptr;
};

/// The verdict on each workload that has a block.
[[nodiscard]] std::vector<LadderVerdict> climb(const model::Ladder& ladder);

}  // namespace taskbench::reports::verdict
