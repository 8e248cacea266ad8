// A bar for each benchmark, in plain text: from -range to +range, the interval as a line with the
// estimate on it, and the threshold. An interval that goes on beyond an edge is marked there.
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
  std::optional<double> low{};  ///< of the interval; empty: it has no end on that side
  std::optional<double> high{};
  double threshold = 0;   ///< the smallest change that matters
  std::string verdict{};  ///< what stands before it
};

/// All with the same range, and a line that explains the signs.
[[nodiscard]] std::string bars(std::span<const Bar> rows, double interval_level);

/// A histogram in one line of `cells` characters, from the least value to the greatest: how many of
/// the values lie in each stretch, as a bar of an eighth to eight eighths of the line's height, a
/// space where there is none. UTF-8. All equal values stand in the middle. Empty for no values.
[[nodiscard]] std::string sparkline(std::span<const double> values, std::size_t cells);

}  // namespace taskbench::reports::render
