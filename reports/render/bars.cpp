#include "reports/render/bars.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "reports/render/columns.hpp"
#include "reports/render/numbers.hpp"

namespace taskbench::reports::render {
namespace {

constexpr int kBarCells = 41;
constexpr double kUnbounded = std::numeric_limits<double>::infinity();

std::string bar_of(const Bar& row, double range) {
  const auto place = [&](double change) {
    const double share = (std::clamp(change, -range, range) + range) / (2 * range);
    return static_cast<std::size_t>(std::lround(share * (kBarCells - 1)));
  };
  std::string bar(kBarCells, ' ');
  bar[place(0)] = '|';
  for (std::size_t i = place(row.low.value_or(-range)); i <= place(row.high.value_or(range)); ++i) {
    bar[i] = '-';
  }
  bar[place(row.threshold)] = '!';
  bar[place(row.change)] = '#';
  // An interval that goes beyond the edge must not seem to end there.
  if (row.low.value_or(-kUnbounded) < -range) bar.front() = '<';
  if (std::max(row.change, row.high.value_or(kUnbounded)) > range) bar.back() = '>';
  return bar;
}

}  // namespace

std::string bars(std::span<const Bar> rows, double interval_level) {
  constexpr double kMostRange = 1;  // no time can shrink by more, and small changes stay visible
  double range = 0.05;
  std::size_t width = 0;
  std::size_t verdicts = 0;
  bool any_clipped = false;
  for (const Bar& row : rows) {
    range = std::max({range, 1.2 * std::abs(row.change), 1.5 * row.threshold});
    width = std::max(width, display_width(one_line(row.name)));
    verdicts = std::max(verdicts, display_width(row.verdict));
  }
  width += verdicts + 2;
  range = std::min(range, kMostRange);
  const std::string left = percent_change(-range);
  const std::string right = percent_change(range);
  std::string text = fmt::format("{}  {}{}{}\n", pad_right("", width), left,
                                 std::string(kBarCells - left.size() - right.size(), ' '), right);
  for (const Bar& row : rows) {
    const std::string bar = bar_of(row, range);
    any_clipped = any_clipped || bar.front() == '<' || bar.back() == '>';
    const std::string name = pad_right(one_line(row.name), width - verdicts);
    text += fmt::format("{}{}  {}  {}\n", name, pad_right(row.verdict, verdicts), bar,
                        pad_left(percent_change(row.change), 8));
  }
  std::string threshold;  // the threshold, if all benchmarks have the same
  const auto same = [&](const Bar& row) { return row.threshold == rows.front().threshold; };
  if (!rows.empty() && std::ranges::all_of(rows, same)) {
    threshold = ' ' + percent_change(rows.front().threshold);
  }
  return text + fmt::format("(| no change, ! threshold{}, # estimate, --- {}{})\n", threshold,
                            interval_title(interval_level),
                            any_clipped ? ", < > goes on beyond the edge" : "");
}

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
    // Rounded up, so that a single value among thousands shows.
    text += kBars[static_cast<std::size_t>(std::ceil(8 * static_cast<double>(count) / most))];
  }
  return text;
}

}  // namespace taskbench::reports::render
