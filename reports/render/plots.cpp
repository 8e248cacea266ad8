#include "reports/render/plots.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "reports/render/columns.hpp"
#include "reports/render/figures.hpp"
#include "reports/render/gnuplot.hpp"
#include "reports/render/plot_scale.hpp"
#include "reports/stats/interval.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::reports::render {
namespace {

using Lines = std::vector<std::string>;

constexpr double kConfidence = 0.95;
constexpr std::size_t kMostDots = 3000;  // in one plot: a browser draws them, and an eye parts them
constexpr std::size_t kFewestDots = 3;   // of a sample, however many samples there are
// So many columns of text leave room for the plot itself.
constexpr std::size_t kTitleColumns = 90;
constexpr std::size_t kKeyColumns = 72;
constexpr std::size_t kPanelColumns = 34;
// Round, square, triangles and a diamond, filled.
constexpr std::array<int, 5> kShapes{7, 5, 9, 13, 11};

/// From -0.5 to 0.5, evenly spread whatever the count: neighbours in time lie far apart. Not drawn
/// at random, so that the same results give the same plot.
double jitter(std::size_t index) {
  constexpr double kGoldenRatio = 0.6180339887498949;
  const double place = kGoldenRatio * static_cast<double>(index + 1);
  return place - std::floor(place) - 0.5;
}

double row_of(std::size_t index) { return static_cast<double>(index + 1); }

void take(Span& span, const Sampled& sample) {
  for (const double value : sample.values) span.take_ns(value);
  span.take_ns(sample.median);
}

Lines titled(const std::string& title) {
  return {fmt::format("set title {} font title_font offset 0,-0.3",
                      gnuplot_string(shortened(title, kTitleColumns)))};
}

/// Ticks of the rows, the first on top.
void label_rows(Lines& lines, const std::vector<std::string>& labels) {
  Lines ticks;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    ticks.push_back(gnuplot_tick(labels[i], row_of(i)));
  }
  lines.push_back(fmt::format("set ytics ({}) scale 0", fmt::join(ticks, ", ")));
  lines.push_back(fmt::format("set yrange [{:g}:0.4]", static_cast<double>(labels.size()) + 0.6));
  lines.push_back("unset grid; set grid xtics lc rgb '#a0a0a0' lw 0.5 dt (2,4); set border 1");
}

void add_median(PlotData& data, const Sampled& sample, double unit_ns, double place, int colour) {
  const stats::Interval interval =
      sample.interval.value_or(stats::Interval{sample.median, sample.median});
  data.add({sample.median / unit_ns, interval.low / unit_ns, interval.high / unit_ns, place,
            static_cast<double>(colour)});
}

/// How many lines the key of these takes.
std::size_t key_lines(const std::vector<Variant>& variants) {
  constexpr std::size_t kRoom = 860;
  constexpr std::size_t kCharacter = 8;
  constexpr std::size_t kMark = 80;
  std::size_t longest = 0;
  for (const Variant& each : variants) {
    longest = std::max(longest, display_width(shortened(each.label, kKeyColumns)));
  }
  const std::size_t columns = std::max<std::size_t>(1, kRoom / (kCharacter * longest + kMark));
  return (variants.size() + columns - 1) / columns;
}

}  // namespace

Sampled sampled(std::vector<double> values) {
  Sampled result;
  result.median = stats::median(values);
  result.interval = stats::median_interval(values, kConfidence);
  result.values = std::move(values);
  return result;
}

std::size_t most_dots(std::size_t samples) {
  return std::max(kFewestDots, kMostDots / std::max<std::size_t>(1, samples));
}

Plot distribution_plot(std::string name, std::string title, const std::string& quantity,
                       const std::vector<DotRow>& rows) {
  Span span;
  std::vector<std::string> labels;
  std::vector<Sampled> samples;
  std::size_t most = 0;
  for (const DotRow& row : rows) {
    take(span, row.sample);
    labels.push_back(row.label);
    samples.push_back(drawable(row.sample, most_dots(rows.size())));
    most = std::max(most, samples.back().values.size());
  }
  Lines lines = titled(title);
  label_rows(lines, labels);
  const TimeUnit unit = scale_time(lines, 'x', quantity, span);

  PlotData data;
  data.begin_block("every sample", "value  row, jittered  colour");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& values = samples[i].values;
    for (std::size_t k = 0; k < values.size(); ++k) {
      data.add(
          {values[k] / unit.ns, row_of(i) + 0.56 * jitter(k), static_cast<double>(rows[i].colour)});
    }
  }
  data.begin_block("medians", "median  low  high  row  colour");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    add_median(data, samples[i], unit.ns, row_of(i), rows[i].colour);
  }
  const double size = most > 200 ? 0.3 : most > 40 ? 0.45 : 0.65;
  lines.push_back(plot_command(
      {"data index 1 using 1:4:2:3:($4-0.36):($4+0.36):5 with boxxyerror fs solid 0.22 noborder "
       "lc variable",
       fmt::format("data index 0 using 1:2:3 with points pt 7 ps {:g} lc variable", size),
       "data index 1 using 1:($4-0.36):(0):(0.72) with vectors nohead lw 2.5 lc rgb 'black'"}));
  const int height = 110 + (rows.size() == 1 ? 90 : 48 * static_cast<int>(rows.size()));
  return plot_of(std::move(name), std::move(title), height, lines, data);
}

Plot overview_plot(std::string name, std::string title, const std::string& quantity,
                   const std::vector<std::string>& groups, const std::vector<Variant>& variants) {
  Span span;
  for (const Variant& variant : variants) {
    for (const Variant::Point& point : variant.points) {
      span.take_ns(point.median_ns);
      if (!point.interval_ns) continue;
      span.take_ns(point.interval_ns->low);
      span.take_ns(point.interval_ns->high);
    }
  }
  Lines lines = titled(title);
  label_rows(lines, groups);
  const TimeUnit unit = scale_time(lines, 'x', quantity, span);
  lines.push_back(key_below(key_lines(variants)));

  std::vector<std::size_t> in_group(groups.size());
  for (const Variant& variant : variants) {
    for (const Variant::Point& point : variant.points) ++in_group[point.group];
  }
  PlotData data;
  Lines parts;
  std::vector<std::size_t> placed(groups.size());
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const int index = data.begin_block(variants[i].label, "median  low  high  row");
    for (const Variant::Point& point : variants[i].points) {
      const Sampled sample = drawable({{}, point.median_ns, point.interval_ns}, 0);
      const auto place = static_cast<double>(placed[point.group]++);
      const double offset =
          0.7 * ((place + 0.5) / static_cast<double>(in_group[point.group]) - 0.5);
      add_median(data, sample, unit.ns, row_of(point.group) + offset, line_type(i));
    }
    parts.push_back(fmt::format(
        "data index {} using 1:4:2:3 with xerrorbars lt {} lw 1.6 pt {} ps 0.95 title {}", index,
        line_type(i), kShapes[i % kShapes.size()],
        gnuplot_string(shortened(variants[i].label, kKeyColumns))));
  }
  lines.push_back(plot_command(parts));
  const std::size_t most = *std::ranges::max_element(in_group);
  const int row_height = std::max(34, 16 * static_cast<int>(most) + 8);
  const int height = 150 + row_height * static_cast<int>(groups.size()) +
                     18 * static_cast<int>(key_lines(variants) - 1);
  return plot_of(std::move(name), std::move(title), height, lines, data);
}

Plot history_plot(std::string name, std::string title, const std::string& quantity,
                  const std::vector<HistoryPoint>& points,
                  const std::vector<std::string>& machines) {
  constexpr std::size_t kMostLabels = 25;
  Span span;
  std::vector<Sampled> samples;
  std::size_t longest = 0;
  for (const HistoryPoint& point : points) {
    take(span, point.sample);
    samples.push_back(drawable(point.sample, most_dots(points.size())));
    longest = std::max(longest, display_width(shortened(point.label, kLabelColumns)));
  }
  Lines lines = titled(title);
  const TimeUnit unit = scale_time(lines, 'y', quantity, span);
  const std::size_t step = (points.size() + kMostLabels - 1) / kMostLabels;
  Lines ticks;
  for (std::size_t i = 0; i < points.size(); i += step) {
    ticks.push_back(gnuplot_tick(points[i].label, row_of(i)));
  }
  lines.push_back(
      fmt::format("set xtics ({}) rotate by 90 right font small_font", fmt::join(ticks, ", ")));
  lines.push_back(fmt::format("set xrange [0.4:{:g}]", static_cast<double>(points.size()) + 0.6));
  // Their letters are about 0.46 lines wide.
  const double below = std::max(9.2, 1.5 + 0.46 * static_cast<double>(longest));
  lines.push_back(
      fmt::format("unset grid; set grid ytics lc rgb '#a0a0a0' lw 0.5 dt (2,4); set bmargin {:.1f};"
                  " set rmargin 3",
                  below));

  PlotData data;
  Lines parts;
  data.begin_block("every sample", "result, jittered  value  colour");
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto& values = samples[i].values;
    for (std::size_t k = 0; k < values.size(); ++k) {
      data.add({row_of(i) + 0.3 * jitter(k), values[k] / unit.ns,
                static_cast<double>(line_type(points[i].machine))});
    }
  }
  parts.push_back(
      fmt::format("data index 0 using 1:2:3 with points pt 7 ps {:g} lc variable notitle",
                  points.size() > 30 ? 0.2 : 0.35));
  for (std::size_t machine = 0; machine < machines.size(); ++machine) {
    const int index = data.begin_block(machines[machine], "median  low  high  result");
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (points[i].machine != machine) continue;
      add_median(data, samples[i], unit.ns, row_of(i), line_type(machine));
    }
    parts.push_back(fmt::format("data index {} using 4:1 with lines lt {} lw 1.2 notitle", index,
                                line_type(machine)));
    // Not with yerrorbars, which put white discs behind the points: they show on a dark page.
    parts.push_back(
        fmt::format("data index {} using 4:2:(0):($3-$2) with vectors nohead lt {} lw 1.8 notitle",
                    index, line_type(machine)));
    parts.push_back(fmt::format("data index {} using 4:1 with points lt {} pt {} ps {:g} title {}",
                                index, line_type(machine), kShapes[machine % kShapes.size()],
                                points.size() > 30 ? 0.6 : 0.95,
                                gnuplot_string(shortened(machines[machine], kKeyColumns))));
  }
  if (machines.size() > 1) lines.push_back("set key above left vertical samplen 1.5");
  lines.push_back(plot_command(parts));
  const int height = 460 + static_cast<int>(13 * (below - 9.2)) +
                     (machines.size() > 1 ? 22 * static_cast<int>(machines.size()) : 0);
  return plot_of(std::move(name), std::move(title), height, lines, data);
}

namespace {

/// What is drawn in a panel.
void add_panel(const CounterPanel& panel, const std::vector<std::string>& labels, PlotData& data,
               Lines& lines) {
  double least = 0;
  double most = 0;
  const auto taken = [&](double value) {
    const double drawn = drawable_count(value);
    least = std::min(least, drawn);
    most = std::max(most, drawn);
    return drawn;
  };
  const int bars = data.begin_block(panel.title + ": medians", "median  row");
  for (std::size_t i = 0; i < panel.rows.size(); ++i) {
    data.add({taken(panel.rows[i].median.value_or(0)), row_of(i)});
  }
  Lines parts{
      fmt::format("data index {} using ($1/2):2:(0):1:($2-0.32):($2+0.32) with boxxyerror "
                  "fs solid 0.4 noborder lt {}",
                  bars, kBlue)};
  if (std::ranges::any_of(panel.rows, [](const auto& row) { return !row.values.empty(); })) {
    const int dots = data.begin_block(panel.title + ": every sample", "value  row, jittered");
    for (std::size_t i = 0; i < panel.rows.size(); ++i) {
      const auto& values = panel.rows[i].values;
      const std::size_t step = 1 + values.size() / most_dots(panel.rows.size());
      for (std::size_t k = 0; k < values.size(); k += step) {
        data.add({taken(values[k]), row_of(i) + 0.44 * jitter(k)});
      }
    }
    parts.push_back(
        fmt::format("data index {} using 1:2 with points pt 7 ps 0.3 lc rgb 'black'", dots));
  }
  lines.push_back(fmt::format("set title {} offset 0,-0.6",
                              gnuplot_string(shortened(panel.title, kPanelColumns))));
  label_rows(lines, labels);
  lines.push_back("unset label");
  for (std::size_t i = 0; i < panel.rows.size(); ++i) {
    if (panel.rows[i].median) continue;
    lines.push_back(fmt::format("set label 'not counted' at graph 0.02, first {:g} font small_font",
                                row_of(i)));
  }
  if (!(most > least)) most = 1;
  const double margin = 0.04 * (most - least);
  lines.push_back(fmt::format("set xrange [{:g}:{:g}]; set xtics ({})",
                              least < 0 ? least - margin : 0, most + margin,
                              linear_ticks(least, most)));
  lines.push_back(plot_command(parts));
}

}  // namespace

Plot counters_plot(std::string name, std::string title, const std::string& quantity,
                   const std::vector<std::string>& cases, const std::vector<CounterPanel>& panels) {
  constexpr double kWidth = 900;
  constexpr double kCharacter = 7.8;  // of the labels, wide rather than narrow
  const std::size_t columns = std::min<std::size_t>(3, panels.size());
  const std::size_t rows = (panels.size() + columns - 1) / columns;
  std::size_t longest = 0;
  for (const std::string& label : cases) longest = std::max(longest, display_width(label));
  const double left = std::min(0.45, (20 + kCharacter * static_cast<double>(longest)) / kWidth);
  const int height = 56 + (74 + 21 * static_cast<int>(cases.size())) * static_cast<int>(rows);

  PlotData data;
  Lines lines{fmt::format(
      "set multiplot layout {},{} margins {:.3f},0.98,{:.4f},{:.4f} spacing 0.035,{:.4f} title {} "
      "font title_font",
      rows, columns, left, 32.0 / height, 1 - 66.0 / height, 70.0 / height,
      gnuplot_string(fmt::format("{} {}", title, quantity)))};
  for (std::size_t i = 0; i < panels.size(); ++i) {
    // The names stand once, on the left.
    const bool is_first = i % columns == 0;
    add_panel(panels[i], is_first ? cases : std::vector<std::string>(cases.size()), data, lines);
  }
  lines.push_back("unset multiplot");
  return plot_of(std::move(name), std::move(title), height, lines, data);
}

}  // namespace taskbench::reports::render
