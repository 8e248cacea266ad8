#include "reports/verdict/exact.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "reports/stats/require.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::reports::verdict {
namespace {

/// Adds the relative differences of all pairs of counts of one side.
void add_differences(std::span<const double> counts, std::vector<double>& differences) {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const auto [less, more] = std::minmax(counts[i], counts[j]);
      differences.push_back(more / less - 1);
    }
  }
}

ExactChange exact_change(std::span<const double> base, std::span<const double> head) {
  std::vector<double> differences;
  for (const auto side : {base, head}) {
    stats::require(side.size() >= kLeastExactCounts, "exact change: too few counts");
    for (const double count : side) {
      stats::require(std::isfinite(count) && count > 0, "exact change: a count is not positive");
    }
    add_differences(side, differences);
  }
  ExactChange result;
  result.base = stats::median(base);
  result.head = stats::median(head);
  result.change = result.head / result.base - 1;
  result.repeats = std::ranges::max(differences) == 0;
  const double q1 = stats::quantile(differences, 0.25);
  const double q3 = stats::quantile(differences, 0.75);
  result.threshold = std::max(kExactDelta, q3 + 3 * (q3 - q1));
  return result;
}

}  // namespace

InstructionsVerdict judge_instructions(std::span<const double> base, std::span<const double> head) {
  InstructionsVerdict result;
  result.exact = exact_change(base, head);
  result.verdict = result.exact->is_worse() ? Verdict::fail : Verdict::pass;
  return result;
}

}  // namespace taskbench::reports::verdict
