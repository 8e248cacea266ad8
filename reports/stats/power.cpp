#include "reports/stats/power.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "reports/stats/distributions.hpp"
#include "reports/stats/require.hpp"
#include "reports/stats/sign_flip.hpp"

namespace taskbench::reports::stats {
namespace {

constexpr std::size_t kMostBlocks = 1'000'000;

void require_not_negative(double value, const std::string& name) {
  require(std::isfinite(value) && value >= 0,
          "power: " + name + " must be finite and not negative");
}

void require_sound(double deviation, double epsilon, const TestErrors& errors) {
  require_not_negative(deviation, "the deviation");
  require_not_negative(epsilon, "epsilon");
  require_fraction(errors.alpha, "power: alpha");
  require_fraction(errors.beta, "power: beta");
  require(errors.workloads > 0, "power: no workloads");
}

double alpha_of_each(const TestErrors& errors) {
  return errors.alpha / static_cast<double>(errors.workloads);
}

/// Number of the 2^blocks sign patterns that may count as significant in one workload.
double outcomes(std::size_t blocks, const TestErrors& errors) {
  return alpha_of_each(errors) * std::pow(2.0, static_cast<double>(blocks));
}

/// Distance, as a log ratio, by which the effect must exceed a threshold to pass it with
/// probability 1 - error.
double margin(double error, double deviation, std::size_t blocks) {
  const auto n = static_cast<double>(blocks);
  return student_t_quantile(1 - error, n - 1) * deviation / std::sqrt(n);
}

/// The effect for which the test alone is significant with probability 1 - beta.
double minimum_detectable_effect(double deviation, std::size_t blocks, double epsilon,
                                 const TestErrors& errors) {
  require_sound(deviation, epsilon, errors);
  require(blocks > 0, "power: no blocks");
  if (blocks < 2 || least_p(blocks) >= errors.alpha) return std::numeric_limits<double>::infinity();
  double beyond =
      margin(alpha_of_each(errors), deviation, blocks) + margin(errors.beta, deviation, blocks);
  if (outcomes(blocks, errors) < 2) {
    const double each = std::pow(1 - errors.beta, 1 / static_cast<double>(blocks));
    beyond = std::max(beyond, normal_quantile(each) * deviation);
  }
  return std::expm1(std::log1p(epsilon) + beyond);
}

}  // namespace

double minimum_failing_effect(double deviation, std::size_t blocks, double epsilon, double delta,
                              const TestErrors& errors) {
  require_not_negative(delta, "delta");
  const double detectable = minimum_detectable_effect(deviation, blocks, epsilon, errors);
  if (std::isinf(detectable)) return detectable;
  const double matters = std::log1p(std::max(delta, epsilon));
  return std::max(detectable, std::expm1(matters + margin(errors.beta, deviation, blocks)));
}

std::optional<std::size_t> least_blocks(const TrialErrors& errors, std::size_t workloads) {
  require(workloads > 0, "power: no workloads");
  for (std::size_t blocks = 1; blocks <= errors.max_blocks; ++blocks) {
    const double alpha_left = last_look(blocks, errors).alpha;
    const double patterns = std::ldexp(1.0, static_cast<int>(blocks));
    const double floor = static_cast<double>(workloads) / patterns;
    if (std::max(floor, least_p(blocks)) < alpha_left) return blocks;
  }
  return std::nullopt;
}

std::optional<std::size_t> blocks_needed(double deviation, double effect, double epsilon,
                                         double delta, const TrialErrors& errors,
                                         std::size_t workloads) {
  const double beta = TestErrors().beta;
  require_sound(deviation, epsilon, {errors.alpha, beta, workloads});
  require_fraction(errors.pass_error, "power: pass_error");
  require_not_negative(delta, "delta");
  require(std::isfinite(effect), "power: the effect must be finite");
  const double matters = std::log1p(std::max(delta, epsilon));
  const auto is_enough = [&](std::size_t blocks) {
    const Look end = last_look(blocks, {errors.alpha, errors.pass_error,
                                        std::max(blocks, errors.max_blocks), errors.at_once});
    if (effect >= matters) {
      const double failing =
          minimum_failing_effect(deviation, blocks, epsilon, delta, {end.alpha, beta, workloads});
      return std::log1p(failing) <= effect;
    }
    // Below the level of the test, the bound has no margin of its own.
    return std::pow(2.0, -static_cast<double>(blocks)) <= end.pass_error &&
           effect + margin(end.pass_error, deviation, blocks) + margin(beta, deviation, blocks) <
               matters;
  };
  // More blocks hardly ever increase the effect, so the least number is found by bisection.
  std::size_t too_few = 1;
  std::size_t enough = 2;
  while (!is_enough(enough)) {
    if (enough == kMostBlocks) return std::nullopt;
    too_few = enough;
    enough = std::min(2 * enough, kMostBlocks);
  }
  while (enough - too_few > 1) {
    const std::size_t middle = too_few + (enough - too_few) / 2;
    (is_enough(middle) ? enough : too_few) = middle;
  }
  return enough;
}

}  // namespace taskbench::reports::stats
