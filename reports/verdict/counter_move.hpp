// Finds the counters that differ between two sides, to help explain a difference in times. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace taskbench::reports::verdict {

/// A counter that differs between the sides.
struct CounterMove {
  std::string name;
  double base = 0;  ///< per iteration, median over the values
  double head = 0;
  double score = 0;  ///< difference in units of the counter's own noise
};

/// The values of each counter, per iteration.
using CounterValues = std::map<std::string, std::vector<double>>;

/// The change of a count per iteration by one more event in this many iterations.
[[nodiscard]] inline double resolution_of(std::int64_t iterations) {
  return iterations > 0 ? 1 / static_cast<double>(iterations) : 0;
}

/// The counters that moved most in units of their own noise: at most three, the greatest first, and
/// none that moved by less than three units. The noise is the larger spread of the two sides, and
/// at least 0.5 % of the counter: values that happen to agree, as a few counts often do, are no
/// more precise, and must not displace counters that moved by more. So changes below 1.5 % are
/// never reported. The noise is also at least `resolution`, the change by one more event: one over
/// the iterations, or 0 for values that are not counts per iteration. A counter needs
/// `least_values` on each side: the spread of fewer values means nothing.
[[nodiscard]] std::vector<CounterMove> most_moved(const CounterValues& base,
                                                  const CounterValues& head,
                                                  std::size_t least_values, double resolution);

}  // namespace taskbench::reports::verdict
