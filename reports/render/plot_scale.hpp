// The scales of plots: ranges, ticks, and what of the values is drawn. A result file may hold any
// number: everything here ends, and draws something, for each of them.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "reports/render/figures.hpp"
#include "reports/render/plots.hpp"

namespace taskbench::reports::render {

/// The range of a scale: what it has been given, within what can be drawn.
struct Span {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();
  bool is_cut = false;  ///< a value lay outside of what can be drawn

  void take_ns(double value);
};

/// A time within what an axis can show, for a shorter or longer one its end.
[[nodiscard]] double drawable_ns(double ns);

/// The same for a count, which may be 0 or negative.
[[nodiscard]] double drawable_count(double count);

/// With all of it drawable, and of the values at most `most`: those of evenly spread ranks, the
/// least and the greatest among them.
[[nodiscard]] Sampled drawable(const Sampled& sample, std::size_t most);

/// 1, 2 and 5 times the powers of ten that lie in a range; of a wide one the powers alone, at most
/// about ten.
[[nodiscard]] std::string logarithmic_ticks(double least, double most);

/// Ticks at about four round numbers of a range that has 0 in it.
[[nodiscard]] std::string linear_ticks(double least, double most);

/// Sets the scale of a time axis and returns its unit.
[[nodiscard]] TimeUnit scale_time(std::vector<std::string>& lines, char axis,
                                  const std::string& quantity, const Span& span);

}  // namespace taskbench::reports::render
