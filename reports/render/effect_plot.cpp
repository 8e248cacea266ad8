#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "reports/render/gnuplot.hpp"
#include "reports/render/plots.hpp"

namespace taskbench::reports::render {
namespace {

using Lines = std::vector<std::string>;
using verdict::Verdict;

struct Mark {
  Verdict verdict;
  std::string_view title;
  int colour;
  int shape;
};
constexpr std::array<Mark, 3> kMarks{{{Verdict::pass, "PASS", kGreen, 7},
                                      {Verdict::fail, "FAIL", kVermillion, 9},
                                      {Verdict::inconclusive, "INCONCLUSIVE", kOrange, 5}}};

double middle_of_row(std::size_t index) { return static_cast<double>(index + 1); }

/// Blocks lie below one another in the order in which they ran.
double in_row(std::size_t row, std::size_t block, std::size_t count) {
  const double share = (static_cast<double>(block) + 0.5) / static_cast<double>(count) - 0.5;
  return middle_of_row(row) + 0.62 * share;
}

/// What can be drawn of a change: a ratio of two times may be any number.
double drawn(double change) {
  constexpr double kGreatest = 1e9;
  return std::isnan(change) ? 0 : std::clamp(change, -1.0, kGreatest);
}

/// In per cent, with all that is drawn in it and a margin.
std::string range_of(const std::vector<EffectRow>& rows) {
  double least = 0;
  double most = 0;
  const auto take = [&](double value) {
    least = std::min(least, drawn(value));
    most = std::max(most, drawn(value));
  };
  for (const EffectRow& row : rows) {
    for (const double change : row.blocks) take(change);
    take(row.change);
    take(row.delta);
    take(-row.epsilon);
    if (row.interval) {
      take(row.interval->low);
      take(row.interval->high);
    }
  }
  const double margin = 0.05 * (most - least);
  return fmt::format("set xrange [{:.5g}:{:.5g}]", 100 * (least - margin), 100 * (most + margin));
}

void add_verdicts(const std::vector<EffectRow>& rows, const Mark& mark, PlotData& data, Lines& dots,
                  Lines& estimates) {
  const auto is_of_it = [&](const EffectRow& row) { return row.verdict == mark.verdict; };
  if (std::ranges::none_of(rows, is_of_it)) return;
  const int estimate =
      data.begin_block(fmt::format("{}: estimates", mark.title), "change %  low  high  row");
  bool any = false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!is_of_it(rows[i])) continue;
    const stats::Interval interval =
        rows[i].interval.value_or(stats::Interval{rows[i].change, rows[i].change});
    data.add({100 * drawn(rows[i].change), 100 * drawn(interval.low), 100 * drawn(interval.high),
              middle_of_row(i)});
    any = any || !rows[i].blocks.empty();
  }
  estimates.push_back(fmt::format(
      "data index {} using 1:4:2:3 with xerrorbars lt {} lw 2.2 pt {} ps 1.25 title '{}'", estimate,
      mark.colour, mark.shape, mark.title));
  if (!any) return;
  const int blocks =
      data.begin_block(fmt::format("{}: each block", mark.title), "change %  row, by block");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!is_of_it(rows[i])) continue;
    for (std::size_t k = 0; k < rows[i].blocks.size(); ++k) {
      data.add({100 * drawn(rows[i].blocks[k]), in_row(i, k, rows[i].blocks.size())});
    }
  }
  dots.push_back(fmt::format("data index {} using 1:2 with points pt 7 ps 0.38 lt {} notitle",
                             blocks, mark.colour));
}

}  // namespace

Plot effect_plot(std::string name, std::string title, const std::vector<EffectRow>& rows) {
  Lines ticks;
  PlotData data;
  data.begin_block("thresholds", "noise floor %  smallest slowdown that matters %  row");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ticks.push_back(gnuplot_tick(rows[i].label, middle_of_row(i)));
    data.add({100 * drawn(rows[i].epsilon), 100 * drawn(rows[i].delta), middle_of_row(i)});
  }
  Lines dots;
  Lines estimates;
  for (const Mark& mark : kMarks) add_verdicts(rows, mark, data, dots, estimates);

  Lines parts{
      "data index 0 using (0):3:(-$1):1:($3-0.42):($3+0.42) with boxxyerror fs solid 0.2 noborder "
      "lc rgb '#808080' title 'noise floor'",
      "data index 0 using 2:($3-0.42):(0):(0.84) with vectors nohead lw 1.8 dt (6,4) lc rgb "
      "'black' title 'threshold'"};
  parts.insert(parts.end(), dots.begin(), dots.end());
  parts.insert(parts.end(), estimates.begin(), estimates.end());
  const Lines lines{
      fmt::format("set title {} font title_font offset 0,-0.3", gnuplot_string(title)),
      fmt::format("set ytics ({}) scale 0", fmt::join(ticks, ", ")),
      fmt::format("set yrange [{:g}:0.4]", static_cast<double>(rows.size()) + 0.6),
      "unset grid; set grid xtics lc rgb '#a0a0a0' lw 0.5 dt (2,4); set border 1",
      "set xlabel 'change of head against base (%); to the right is slower'",
      "set xtics format '%+g' add ('0' 0)",
      range_of(rows),
      "set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#808080' lw 1",
      key_below(1),
      plot_command(parts)};
  return plot_of(std::move(name), std::move(title), 160 + 54 * static_cast<int>(rows.size()), lines,
                 data);
}

}  // namespace taskbench::reports::render
