#include "reports/verdict/decision.hpp"

#include <algorithm>

#include "reports/stats/require.hpp"

namespace taskbench::reports::verdict {
namespace {

bool is_probability(double value) { return value >= 0 && value <= 1; }

void require_sound(const Evidence& evidence, const Thresholds& thresholds) {
  stats::require(std::isfinite(evidence.effect), "verdict: the effect is not finite");
  stats::require(
      is_probability(evidence.p_slower_adjusted) && is_probability(evidence.p_faster_adjusted),
      "verdict: p must lie between 0 and 1");
  stats::require(evidence.upper_bound >= evidence.effect,
                 "verdict: the upper bound lies below the estimate");
  stats::require(std::isfinite(thresholds.epsilon) && thresholds.epsilon >= 0 &&
                     std::isfinite(thresholds.delta) && thresholds.delta >= 0,
                 "verdict: thresholds must be finite and not negative");
  stats::require(thresholds.alpha >= 0 && thresholds.alpha < 1,
                 "verdict: alpha must lie between 0 and 1");
}

}  // namespace

Decision decide(const Evidence& evidence, const Thresholds& thresholds) {
  require_sound(evidence, thresholds);
  const double matters = std::log1p(std::max(thresholds.delta, thresholds.epsilon));
  if (evidence.p_slower_adjusted < thresholds.alpha && evidence.effect >= matters) {
    return {Verdict::fail, false};
  }
  const bool may_be_slower = std::isfinite(evidence.upper_bound) && evidence.upper_bound >= matters;
  if (evidence.p_faster_adjusted < thresholds.alpha && evidence.effect <= -matters &&
      !may_be_slower) {
    return {Verdict::pass, true};
  }
  return {evidence.upper_bound < matters ? Verdict::pass : Verdict::inconclusive, false};
}

}  // namespace taskbench::reports::verdict
