#include "reports/render/plot_scale.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "reports/render/gnuplot.hpp"

namespace taskbench::reports::render {
namespace {

constexpr double kLogFrom = 12;  // greatest over least, from which a logarithmic scale is used
// No clock tells shorter times, and nobody waits for longer ones; gnuplot computes with doubles,
// and its ranges need room around the values.
constexpr double kShortestNs = 1e-12;
constexpr double kLongestNs = 1e30;
constexpr double kGreatestCount = 1e30;
constexpr double kLeastCount = 1e-30;

}  // namespace

double drawable_ns(double ns) { return std::clamp(ns, kShortestNs, kLongestNs); }

double drawable_count(double count) {
  if (!(std::abs(count) >= kLeastCount)) return 0;
  return std::clamp(count, -kGreatestCount, kGreatestCount);
}

Sampled drawable(const Sampled& sample, std::size_t most) {
  Sampled result;
  result.median = drawable_ns(sample.median);
  if (sample.interval) {
    result.interval = {drawable_ns(sample.interval->low), drawable_ns(sample.interval->high)};
  }
  result.values = sample.values;
  if (most > 1 && result.values.size() > most) {
    std::ranges::sort(result.values);
    for (std::size_t i = 0; i < most; ++i) {
      result.values[i] = result.values[i * (result.values.size() - 1) / (most - 1)];
    }
    result.values.resize(most);
  }
  for (double& value : result.values) value = drawable_ns(value);
  return result;
}

void Span::take_ns(double value) {
  const double drawn = drawable_ns(value);
  is_cut = is_cut || drawn != value;
  least = std::min(least, drawn);
  most = std::max(most, drawn);
}

std::string logarithmic_ticks(double least, double most) {
  constexpr double kWide = 500;
  constexpr int kMostDecades = 10;
  const bool is_wide = most > kWide * least;
  const int first = static_cast<int>(std::floor(std::log10(least)));
  const int last = static_cast<int>(std::floor(std::log10(most)));
  const int stride = std::max(1, (last - first + kMostDecades - 1) / kMostDecades);
  std::vector<std::string> ticks;
  for (int exponent = first; exponent <= last; exponent += stride) {
    for (const double factor : {1, 2, 5}) {
      const double place = factor * std::pow(10, exponent);
      if (place < least || place > most || (factor > 1 && is_wide)) continue;
      const bool is_long = place >= 1000 && place < 1e7;
      ticks.push_back(
          gnuplot_tick(is_long ? with_separators(place, 0) : fmt::format("{:g}", place), place));
    }
  }
  return fmt::format("{}", fmt::join(ticks, ", "));
}

std::string linear_ticks(double least, double most) {
  const double third = (most - least) / 3;
  const double decade = std::pow(10, std::floor(std::log10(third)));
  double step = 10 * decade;
  for (const double factor : {5, 2, 1}) {
    if (factor * decade >= third) step = factor * decade;
  }
  std::vector<std::string> ticks;
  const auto last = static_cast<int>(std::floor(most / step * (1 + 1e-9)));
  for (auto i = static_cast<int>(std::ceil(least / step * (1 + 1e-9))); i <= last; ++i) {
    ticks.push_back(gnuplot_tick(with_prefix(i * step), i * step));
  }
  return fmt::format("{}", fmt::join(ticks, ", "));
}

TimeUnit scale_time(std::vector<std::string>& lines, char axis, const std::string& quantity,
                    const Span& span) {
  const TimeUnit unit = time_unit(span.least);
  const bool is_wide = span.most > kLogFrom * span.least;
  lines.push_back(fmt::format(
      "set {}label {}", axis,
      gnuplot_string(fmt::format("{} ({}){}{}", quantity, unit.name,
                                 is_wide ? ", logarithmic scale" : "",
                                 span.is_cut ? "; times beyond it are drawn at its end" : ""))));
  if (is_wide) {
    const double least = span.least / unit.ns / 1.2;
    const double most = span.most / unit.ns * 1.2;
    lines.push_back(
        fmt::format("set logscale {0}; set {0}tics ({1})", axis, logarithmic_ticks(least, most)));
    lines.push_back(fmt::format("set {}range [{:g}:{:g}]", axis, least, most));
    return unit;
  }
  const double margin = std::max(0.04 * (span.most - span.least), 0.002 * span.most);
  lines.push_back(fmt::format("set {}range [{:.9g}:{:.9g}]", axis, (span.least - margin) / unit.ns,
                              (span.most + margin) / unit.ns));
  return unit;
}

}  // namespace taskbench::reports::render
