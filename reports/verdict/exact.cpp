#include "reports/verdict/exact.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "reports/stats/require.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::reports::verdict {
namespace {

/// The differences between all pairs of counts of one side, for both sides. Throws
/// std::invalid_argument for too few counts, and for a count less than `least`.
template <class Difference>
std::vector<double> differences_of(std::span<const double> base, std::span<const double> head,
                                   double least, const Difference& difference) {
  std::vector<double> differences;
  for (const auto counts : {base, head}) {
    stats::require(counts.size() >= kLeastExactCounts, "exact counts: too few");
    for (std::size_t i = 0; i < counts.size(); ++i) {
      stats::require(std::isfinite(counts[i]) && counts[i] >= least,
                     "exact counts: one is too low");
      for (std::size_t j = 0; j < i; ++j) {
        const auto [less, more] = std::minmax(counts[i], counts[j]);
        differences.push_back(difference(less, more));
      }
    }
  }
  return differences;
}

/// Tukey's outer fence.
double fence_of(std::span<const double> differences) {
  const double q1 = stats::quantile(differences, 0.25);
  const double q3 = stats::quantile(differences, 0.75);
  return q3 + 3 * (q3 - q1);
}

ExactChange exact_change(std::span<const double> base, std::span<const double> head) {
  constexpr double kLeastPositive = std::numeric_limits<double>::min();
  const std::vector<double> differences = differences_of(
      base, head, kLeastPositive, [](double less, double more) { return more / less - 1; });
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
                       bool acknowledged, const LeastChange& least) {
  const std::vector<double> differences =
      differences_of(base, head, 0, [](double less, double more) { return more - less; });
  KindVerdict result;
  result.kind = std::move(kind);
  result.base = stats::median(base);
  result.head = stats::median(head);
  result.repeats = std::ranges::max(differences) == 0;
  result.threshold = std::max(least.of(result.base), fence_of(differences));
  result.acknowledged = acknowledged && result.is_worse();
  if (result.is_worse() && !acknowledged) result.verdict = Verdict::fail;
  return result;
}

}  // namespace taskbench::reports::verdict
