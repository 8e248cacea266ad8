#include "reports/stats/floor.hpp"

#include <algorithm>
#include <cmath>

#include "reports/stats/quantile.hpp"

namespace taskbench::reports::stats {

std::optional<FloorSummary> summarize(const model::FloorFigure& figure) {
  constexpr std::size_t kLeastForP99 = 100;
  if (figure.ns.empty() ||
      !std::ranges::all_of(figure.ns, [](double ns) { return std::isfinite(ns); })) {
    return std::nullopt;
  }
  FloorSummary summary;
  summary.median = quantile(figure.ns, 0.5);
  summary.min = quantile(figure.ns, 0);
  if (figure.ns.size() > 1) {
    summary.lower_quartile = quantile(figure.ns, 0.25);
    summary.upper_quartile = quantile(figure.ns, 0.75);
  }
  if (figure.ns.size() >= kLeastForP99) summary.p99 = quantile(figure.ns, 0.99);
  return summary;
}

}  // namespace taskbench::reports::stats
