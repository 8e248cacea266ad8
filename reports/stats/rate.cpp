#include "reports/stats/rate.hpp"

#include "reports/stats/distributions.hpp"
#include "reports/stats/require.hpp"

namespace taskbench::reports::stats {
namespace {

void require_sound(std::size_t events, std::size_t trials, double confidence) {
  require(trials > 0, "rate of no trials");
  require(events <= trials, "rate: more events than trials");
  require_fraction(confidence, "rate: confidence");
}

/// The rate at which so many events or fewer have a probability of `error`.
double highest(std::size_t events, std::size_t trials, double error) {
  if (events == trials) {
    return 1;
  }
  return beta_quantile(1 - error, static_cast<double>(events) + 1,
                       static_cast<double>(trials - events));
}

}  // namespace

Interval rate_interval(std::size_t events, std::size_t trials, double confidence) {
  require_sound(events, trials, confidence);
  const double error = (1 - confidence) / 2;
  return {1 - highest(trials - events, trials, error), highest(events, trials, error)};
}

double rate_upper_bound(std::size_t events, std::size_t trials, double confidence) {
  require_sound(events, trials, confidence);
  return highest(events, trials, 1 - confidence);
}

}  // namespace taskbench::reports::stats
