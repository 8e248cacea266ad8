// Which counters differ between two sides, for the reader who asks why the times do. Pure.
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

/// The change of a count per iteration that one more event in this many iterations makes.
[[nodiscard]] inline double resolution_of(std::int64_t iterations) {
  return iterations > 0 ? 1 / static_cast<double>(iterations) : 0;
}

/// The counters that moved most in units of their own noise: at most three, the greatest first, and
/// none that moved by less than three units. The noise is the larger spread of the two sides, and
/// at least 0.5 % of the counter: values that happen to agree, as those of a few counts do, are not
/// known any better, and must not crowd out what moved by more. So changes below 1.5 % are never
/// reported. The noise is also at least `resolution`, the change by one more event: one over the
/// iterations, or 0 for values that are no counts per iteration. A counter needs `least_values` on
/// each side: the spread of fewer means nothing.
[[nodiscard]] std::vector<CounterMove> most_moved(const CounterValues& base,
                                                  const CounterValues& head,
                                                  std::size_t least_values, double resolution);

}  // namespace taskbench::reports::verdict
