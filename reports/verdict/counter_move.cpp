#include "reports/verdict/counter_move.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "reports/model/lookup.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::reports::verdict {
namespace {

constexpr std::size_t kMostCounters = 3;
// A counter must differ by at least this many times its own noise to explain anything.
constexpr double kLeastScore = 3;
constexpr double kLeastNoise = 0.005;  // relative

std::optional<CounterMove> move_of(const std::string& name, const std::vector<double>& base,
                                   const std::vector<double>& head, double resolution) {
  CounterMove move{name, stats::median(base), stats::median(head), 0};
  const double difference = std::abs(move.head - move.base);
  if (difference == 0 || !std::isfinite(difference)) return std::nullopt;
  const double noise =
      std::max({stats::median_absolute_deviation(base), stats::median_absolute_deviation(head),
                resolution, kLeastNoise * std::max(std::abs(move.base), std::abs(move.head))});
  move.score = difference / noise;
  if (!(move.score >= kLeastScore)) return std::nullopt;  // also if the noise is NaN
  return move;
}

}  // namespace

std::vector<CounterMove> most_moved(const CounterValues& base, const CounterValues& head,
                                    std::size_t least_values, double resolution) {
  std::vector<CounterMove> moves;
  for (const auto& [name, of_base] : base) {
    const std::vector<double>* const of_head = model::find_in(head, name);
    const std::size_t values = of_head == nullptr ? 0 : std::min(of_base.size(), of_head->size());
    if (values < std::max<std::size_t>(1, least_values)) continue;
    if (auto move = move_of(name, of_base, *of_head, resolution)) moves.push_back(std::move(*move));
  }
  std::ranges::stable_sort(moves, std::ranges::greater{}, &CounterMove::score);
  if (moves.size() > kMostCounters) moves.resize(kMostCounters);
  return moves;
}

}  // namespace taskbench::reports::verdict
