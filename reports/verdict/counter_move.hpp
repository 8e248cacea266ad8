// Which counters differ between two sides, for the reader who asks why the times do. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace taskbench::reports::verdict {

/// A counter that differs between the sides.
struct CounterMove {
  std::string name;
  double base = 0;  ///< per iteration, median over the values
  double head = 0;
  double score = 0;  ///< difference in units of the counter's own spread
};

/// The values of each counter, per iteration.
using CounterValues = std::map<std::string, std::vector<double>>;

/// Those that moved most in units of their own spread, at most three, the most first; none that
/// moved by less than three of them. A counter needs `least_values` on each side to take part: the
/// spread of fewer says nothing.
[[nodiscard]] std::vector<CounterMove> most_moved(const CounterValues& base,
                                                  const CounterValues& head,
                                                  std::size_t least_values);

}  // namespace taskbench::reports::verdict
