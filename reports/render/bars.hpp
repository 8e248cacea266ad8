// A bar for each benchmark, in plain text: from -range to +range, the interval as a line with the
// estimate on it, and the threshold. A mark shows that an interval continues beyond an edge.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace taskbench::reports::render {

/// Changes are relative: 0.1 is 10 % slower.
struct Bar {
  std::string name;
  double change = 0;
  std::optional<double> low{};  ///< of the interval; empty: unbounded on that side
  std::optional<double> high{};
  double threshold = 0;   ///< the smallest change that matters
  std::string verdict{};  ///< the text before the bar
};

/// Bars with a common range, and a line that explains the symbols.
[[nodiscard]] std::string bars(std::span<const Bar> rows, double interval_level);

/// A histogram in one line of `cells` characters, from the least value to the greatest: the height
/// of each, in eighths of a line, is the number of values in its range; a space means none. UTF-8.
/// If all values are equal, they are in the middle. Empty if there are no values.
[[nodiscard]] std::string sparkline(std::span<const double> values, std::size_t cells);

}  // namespace taskbench::reports::render
