#include "reports/verdict/exact.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "reports/stats/require.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::reports::verdict {
namespace {

/// Adds the differences of all pairs of counts of one side.
template <class Difference>
void add_differences(std::span<const double> counts, const Difference& difference,
                     std::vector<double>& differences) {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const auto [less, more] = std::minmax(counts[i], counts[j]);
      differences.push_back(difference(less, more));
    }
  }
}

/// Tukey's outer fence.
double fence_of(std::span<const double> differences) {
  const double q1 = stats::quantile(differences, 0.25);
  const double q3 = stats::quantile(differences, 0.75);
  return q3 + 3 * (q3 - q1);
}

ExactChange exact_change(std::span<const double> base, std::span<const double> head) {
  std::vector<double> differences;
  for (const auto side : {base, head}) {
    stats::require(side.size() >= kLeastExactCounts, "exact change: too few counts");
    for (const double count : side) {
      stats::require(std::isfinite(count) && count > 0, "exact change: a count is not positive");
    }
    add_differences(
        side, [](double less, double more) { return more / less - 1; }, differences);
  }
  ExactChange result;
  result.base = stats::median(base);
  result.head = stats::median(head);
  result.change = result.head / result.base - 1;
  result.repeats = std::ranges::max(differences) == 0;
  result.threshold = std::max(kExactDelta, fence_of(differences));
  return result;
}

}  // namespace

InstructionsVerdict judge_instructions(std::span<const double> base, std::span<const double> head) {
  InstructionsVerdict result;
  result.exact = exact_change(base, head);
  result.verdict = result.exact->is_worse() ? Verdict::fail : Verdict::pass;
  return result;
}

KindVerdict judge_kind(std::string kind, std::span<const double> base, std::span<const double> head,
                       bool acknowledged) {
  std::vector<double> differences;
  for (const auto side : {base, head}) {
    stats::require(side.size() >= kLeastExactCounts, "counts of a kind: too few");
    for (const double count : side) {
      stats::require(std::isfinite(count) && count >= 0, "counts of a kind: one is negative");
    }
    add_differences(
        side, [](double less, double more) { return more - less; }, differences);
  }
  KindVerdict result;
  result.kind = std::move(kind);
  result.base = stats::median(base);
  result.head = stats::median(head);
  result.repeats = std::ranges::max(differences) == 0;
  result.threshold = std::max({kLeastEvents, kExactDelta * result.base, fence_of(differences)});
  result.acknowledged = acknowledged && result.is_worse();
  if (result.is_worse() && !acknowledged) result.verdict = Verdict::fail;
  return result;
}

}  // namespace taskbench::reports::verdict
