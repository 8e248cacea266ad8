#include "reports/render/sparkline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

namespace taskbench::reports::render {

std::string sparkline(std::span<const double> values, std::size_t cells) {
  constexpr std::array<std::string_view, 9> kBars{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  if (values.empty() || cells == 0) return {};
  const auto [least, greatest] = std::ranges::minmax_element(values);
  const double range = *greatest - *least;
  std::vector<std::size_t> counts(cells);
  for (const double value : values) {
    const double share = range > 0 ? (value - *least) / range : 0.5;
    const auto cell = static_cast<std::size_t>(share * static_cast<double>(cells));
    ++counts[std::min(cell, cells - 1)];
  }
  const auto most = static_cast<double>(*std::ranges::max_element(counts));
  std::string text;
  for (const std::size_t count : counts) {
    // Rounded up: a single value among thousands is still seen.
    text += kBars[static_cast<std::size_t>(std::ceil(8 * static_cast<double>(count) / most))];
  }
  return text;
}

}  // namespace taskbench::reports::render
