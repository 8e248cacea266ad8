#include "reports/render/plots.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "reports/render/columns.hpp"
#include "reports/render/gnuplot.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::reports::render {
namespace {

using verdict::Verdict;

constexpr double kConfidence = 0.95;
constexpr std::size_t kMostDots = 3000;  // in one plot: browsers draw slowly, readers see no more
constexpr std::size_t kFewestDots = 3;   // of a sample, for any number of samples
// Longest text in a key, in columns, that leaves room for the plot itself.
constexpr std::size_t kKeyColumns = 72;
constexpr std::size_t kPanelColumns = 34;
// Point types: round, square, triangles and a diamond, all filled.
constexpr std::array<int, 5> kShapes{7, 5, 9, 13, 11};

/// From -0.5 to 0.5, evenly spread for any count, with neighbours in time far apart. Not random, so
/// that the same results give the same plot.
double jitter(std::size_t index) {
  constexpr double kGoldenRatio = 0.6180339887498949;
  const double place = kGoldenRatio * static_cast<double>(index + 1);
  return place - std::floor(place) - 0.5;
}

/// Spreads `count` items over a row, from top to bottom.
double within_row(std::size_t index, std::size_t count) {
  return (static_cast<double>(index) + 0.5) / static_cast<double>(count) - 0.5;
}

void take(Span& span, const Sampled& sample) {
  for (const double value : sample.values) span.take_ns(value);
  span.take_ns(sample.median);
}

void add_median(PlotScript& plot, const Sampled& sample, double unit_ns, double place, int colour) {
  const auto [low, high] = sample.interval.value_or(stats::Interval{sample.median, sample.median});
  plot.point(
      {sample.median / unit_ns, low / unit_ns, high / unit_ns, place, static_cast<double>(colour)});
}

/// Number of lines of a key with these texts.
std::size_t key_lines(const std::vector<std::string>& labels) {
  constexpr std::size_t kRoom = 860;
  constexpr std::size_t kCharacterWidth = 8;
  constexpr std::size_t kMark = 80;
  std::size_t longest = 0;
  for (const std::string& each : labels) {
    longest = std::max(longest, display_width(shortened(each, kKeyColumns)));
  }
  const std::size_t columns = std::max<std::size_t>(1, kRoom / (kCharacterWidth * longest + kMark));
  return (labels.size() + columns - 1) / columns;
}

}  // namespace

Sampled sampled(std::vector<double> values) {
  Sampled result;
  result.median = stats::median(values);
  result.interval = stats::median_interval(values, kConfidence);
  result.values = std::move(values);
  return result;
}

Sampled drawable(const Sampled& sample, std::size_t most) {
  Sampled result = sample;
  result.median = drawable_ns(sample.median);
  if (auto& interval = result.interval) {
    interval = {drawable_ns(interval->low), drawable_ns(interval->high)};
  }
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
  PlotScript plot(std::move(name), std::move(title));
  plot.show_title();
  plot.label_rows(labels);
  const TimeUnit unit = plot.scale_time('x', quantity, span);
  plot.begin_block("every sample", "value  row, jittered  colour");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& values = samples[i].values;
    for (std::size_t k = 0; k < values.size(); ++k) {
      plot.point({values[k] / unit.ns, middle_of_row(i) + 0.56 * jitter(k),
                  static_cast<double>(rows[i].colour)});
    }
  }
  plot.begin_block("medians", "median  low  high  row  colour");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    add_median(plot, samples[i], unit.ns, middle_of_row(i), rows[i].colour);
  }
  plot.draw(
      "index 1 using 1:4:2:3:($4-0.36):($4+0.36):5 with boxxyerror fs solid 0.22 noborder lc "
      "variable");
  plot.draw("index 0 using 1:2:3 with points pt 7 ps {:g} lc variable", most > 200  ? 0.3
                                                                        : most > 40 ? 0.45
                                                                                    : 0.65);
  plot.draw("index 1 using 1:($4-0.36):(0):(0.72) with vectors nohead lw 2.5 lc rgb 'black'");
  plot.plot();
  return std::move(plot).finished(110 +
                                  (rows.size() == 1 ? 90 : 48 * static_cast<int>(rows.size())));
}

Plot overview_plot(std::string name, std::string title, const std::string& quantity,
                   const std::vector<std::string>& groups, const std::vector<Variant>& variants) {
  Span span;
  std::vector<std::size_t> in_group(groups.size());
  std::vector<std::string> labels;
  for (const Variant& variant : variants) {
    labels.push_back(variant.label);
    for (const auto& [group, median_ns, interval_ns] : variant.points) {
      ++in_group[group];
      span.take_ns(median_ns);
      if (!interval_ns) continue;
      span.take_ns(interval_ns->low);
      span.take_ns(interval_ns->high);
    }
  }
  PlotScript plot(std::move(name), std::move(title));
  plot.show_title();
  plot.label_rows(groups);
  const TimeUnit unit = plot.scale_time('x', quantity, span);
  plot.key_below(key_lines(labels));
  std::vector<std::size_t> placed(groups.size());
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const int index = plot.begin_block(variants[i].label, "median  low  high  row");
    for (const auto& [group, median_ns, interval_ns] : variants[i].points) {
      const double offset = 0.7 * within_row(placed[group]++, in_group[group]);
      add_median(plot, drawable({{}, median_ns, interval_ns}, 0), unit.ns,
                 middle_of_row(group) + offset, line_type(i));
    }
    plot.draw("index {} using 1:4:2:3 with xerrorbars lt {} lw 1.6 pt {} ps 0.95 title {}", index,
              line_type(i), kShapes[i % kShapes.size()],
              gnuplot_string(shortened(variants[i].label, kKeyColumns)));
  }
  plot.plot();
  const std::size_t most = *std::ranges::max_element(in_group);
  const int row_height = std::max(34, 16 * static_cast<int>(most) + 8);
  return std::move(plot).finished(150 + row_height * static_cast<int>(groups.size()) +
                                  18 * static_cast<int>(key_lines(labels) - 1));
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
  PlotScript plot(std::move(name), std::move(title));
  plot.show_title();
  const TimeUnit unit = plot.scale_time('y', quantity, span);
  const std::size_t step = (points.size() + kMostLabels - 1) / kMostLabels;
  std::vector<std::string> ticks;
  for (std::size_t i = 0; i < points.size(); i += step) {
    ticks.push_back(gnuplot_tick(points[i].label, middle_of_row(i)));
  }
  plot.line("set xtics ({}) rotate by 90 right font small_font", fmt::join(ticks, ", "));
  plot.line("set xrange [0.4:{:g}]", static_cast<double>(points.size()) + 0.6);
  // The labels' letters are about 0.46 lines wide.
  const double below = std::max(9.2, 1.5 + 0.46 * static_cast<double>(longest));
  plot.line(
      "unset grid; set grid ytics lc rgb '#a0a0a0' lw 0.5 dt (2,4); set bmargin {:.1f};"
      " set rmargin 3",
      below);
  plot.begin_block("every sample", "result, jittered  value  colour");
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto& values = samples[i].values;
    for (std::size_t k = 0; k < values.size(); ++k) {
      plot.point({middle_of_row(i) + 0.3 * jitter(k), values[k] / unit.ns,
                  static_cast<double>(line_type(points[i].machine))});
    }
  }
  const bool are_many = points.size() > 30;
  plot.draw("index 0 using 1:2:3 with points pt 7 ps {:g} lc variable notitle",
            are_many ? 0.2 : 0.35);
  for (std::size_t machine = 0; machine < machines.size(); ++machine) {
    const int type = line_type(machine);
    const int index = plot.begin_block(machines[machine], "median  low  high  result");
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (points[i].machine == machine)
        add_median(plot, samples[i], unit.ns, middle_of_row(i), type);
    }
    plot.draw("index {} using 4:1 with lines lt {} lw 1.2 notitle", index, type);
    // Drawn without yerrorbars, which put white discs behind the points that show on a dark page.
    plot.draw("index {} using 4:2:(0):($3-$2) with vectors nohead lt {} lw 1.8 notitle", index,
              type);
    plot.draw("index {} using 4:1 with points lt {} pt {} ps {:g} title {}", index, type,
              kShapes[machine % kShapes.size()], are_many ? 0.6 : 0.95,
              gnuplot_string(shortened(machines[machine], kKeyColumns)));
  }
  if (machines.size() > 1) plot.line("set key above left vertical samplen 1.5");
  plot.plot();
  return std::move(plot).finished(
      460 + static_cast<int>(13 * (below - 9.2)) +
      (machines.size() > 1 ? 22 * static_cast<int>(machines.size()) : 0));
}

namespace {

/// Adds the content of a panel.
void add_panel(const CounterPanel& panel, const std::vector<std::string>& labels,
               PlotScript& plot) {
  Extent range{0, 0};
  const auto taken = [&](double value) {
    const double drawn = drawable_count(value);
    range.take(drawn);
    return drawn;
  };
  plot.draw(
      "index {} using ($1/2):2:(0):1:($2-0.32):($2+0.32) with boxxyerror fs solid 0.4 noborder lt "
      "{}",
      plot.begin_block(panel.title + ": medians", "median  row"), kBlue);
  for (std::size_t i = 0; i < panel.rows.size(); ++i) {
    plot.point({taken(panel.rows[i].median.value_or(0)), middle_of_row(i)});
  }
  if (std::ranges::any_of(panel.rows, [](const auto& row) { return !row.values.empty(); })) {
    plot.draw("index {} using 1:2 with points pt 7 ps 0.3 lc rgb 'black'",
              plot.begin_block(panel.title + ": every sample", "value  row, jittered"));
    for (std::size_t i = 0; i < panel.rows.size(); ++i) {
      const auto& values = panel.rows[i].values;
      const std::size_t step = 1 + values.size() / most_dots(panel.rows.size());
      for (std::size_t k = 0; k < values.size(); k += step) {
        plot.point({taken(values[k]), middle_of_row(i) + 0.44 * jitter(k)});
      }
    }
  }
  plot.line("set title {} offset 0,-0.6", gnuplot_string(shortened(panel.title, kPanelColumns)));
  plot.label_rows(labels);
  plot.line("unset label");
  for (std::size_t i = 0; i < panel.rows.size(); ++i) {
    if (panel.rows[i].median) continue;
    plot.line("set label 'not counted' at graph 0.02, first {:g} font small_font",
              middle_of_row(i));
  }
  auto [least, most] = range;
  if (!(most > least)) most = 1;
  const double margin = 0.04 * (most - least);
  plot.line("set xrange [{:g}:{:g}]; set xtics ({})", least < 0 ? least - margin : 0, most + margin,
            linear_ticks(least, most));
  plot.plot();
}

}  // namespace

Plot counters_plot(std::string name, std::string title, const std::string& quantity,
                   const std::vector<std::string>& cases, const std::vector<CounterPanel>& panels) {
  constexpr double kWidth = 900;
  constexpr double kCharacterWidth = 7.8;  // of the labels; rather too wide than too narrow
  const std::size_t columns = std::min<std::size_t>(3, panels.size());
  const std::size_t rows = (panels.size() + columns - 1) / columns;
  std::size_t longest = 0;
  for (const std::string& label : cases) longest = std::max(longest, display_width(label));
  const double left =
      std::min(0.45, (20 + kCharacterWidth * static_cast<double>(longest)) / kWidth);
  const int height = 56 + (74 + 21 * static_cast<int>(cases.size())) * static_cast<int>(rows);
  PlotScript plot(std::move(name), title);
  plot.line(
      "set multiplot layout {},{} margins {:.3f},0.98,{:.4f},{:.4f} spacing 0.035,{:.4f} title {} "
      "font title_font",
      rows, columns, left, 32.0 / height, 1 - 66.0 / height, 70.0 / height,
      gnuplot_string(fmt::format("{} {}", title, quantity)));
  const std::vector<std::string> no_names(cases.size());
  for (std::size_t i = 0; i < panels.size(); ++i) {
    // The names are shown once, on the left.
    add_panel(panels[i], i % columns == 0 ? cases : no_names, plot);
  }
  plot.line("unset multiplot");
  return std::move(plot).finished(height);
}

namespace {

/// Sets a panel's scale and returns its unit: in ns for times, 1 for counts.
double scale_values(const WorkersPanel& panel, PlotScript& plot) {
  constexpr double kLogFrom = 12;
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (const auto& line : panel.lines) {
    for (const MedianAt& point : line) {
      const auto [low, high] = point.interval.value_or(stats::Interval{point.median, point.median});
      least = std::min(least, drawable_count(low));
      most = std::max(most, drawable_count(high));
    }
  }
  if (!(most > 0)) most = 1;
  const bool is_wide = least > 0 && most > kLogFrom * least;
  const TimeUnit unit = time_unit(is_wide ? std::sqrt(least * most) : most);
  const double scale = panel.is_time ? unit.ns : 1;
  plot.line("set title {} offset 0,-0.6 font small_font",
            gnuplot_string(fmt::format("{}{}{}{}", shortened(panel.title, kPanelColumns),
                                       panel.is_time ? ", " : "", panel.is_time ? unit.name : "",
                                       is_wide ? ", log" : "")));
  if (is_wide) {
    plot.line("set logscale y; set yrange [{:g}:{:g}]; set ytics ({})", least / scale / 1.3,
              most / scale * 1.3, logarithmic_ticks(least / scale / 1.3, most / scale * 1.3));
  } else {
    plot.line("unset logscale y; set yrange [0:{:g}]; set ytics ({})", 1.08 * most / scale,
              linear_ticks(0, most / scale));
  }
  return scale;
}

}  // namespace

Plot workers_plot(std::string name, std::string title, const std::vector<std::string>& schedulers,
                  const std::vector<int>& workers, const std::vector<WorkersPanel>& panels) {
  // Sizes in pixels of the SVG.
  constexpr double kWidth = 900;
  constexpr double kLeft = 64;   // of a panel, for the numbers of its axis
  constexpr double kAbove = 62;  // of all panels
  constexpr double kPanelHeight = 190;
  constexpr double kBetween = 58;  // between one row of panels and the next
  constexpr std::size_t kMostTicks = 8;
  const std::size_t columns = std::min<std::size_t>(3, panels.size());
  const std::size_t rows = (panels.size() + columns - 1) / columns;
  const double key = 16 + 18 * static_cast<double>(key_lines(schedulers));
  const double height = kAbove + kPanelHeight * static_cast<double>(rows) + key;
  PlotScript plot(std::move(name), title);
  plot.line("set multiplot title {} font title_font", gnuplot_string(title));
  std::vector<std::string> ticks;
  const std::size_t step = (workers.size() + kMostTicks - 1) / kMostTicks;
  for (std::size_t i = 0; i < workers.size(); i += step) {
    ticks.push_back(gnuplot_tick(fmt::format("×{}", workers[i]), middle_of_row(i)));
  }
  plot.line("set xtics ({}); set xrange [0.6:{:g}]", fmt::join(ticks, ", "),
            static_cast<double>(workers.size()) + 0.4);
  const auto place = [&](double left, double right, double top, double bottom) {
    plot.line(
        "set lmargin at screen {:.4f}; set rmargin at screen {:.4f}; set tmargin at screen {:.4f}; "
        "set bmargin at screen {:.4f}",
        left / kWidth, right / kWidth, 1 - top / height, 1 - bottom / height);
  };
  const auto mark_of = [&](std::size_t scheduler) {
    return fmt::format("with points lt {} pt {} ps 0.8", line_type(scheduler),
                       kShapes[scheduler % kShapes.size()]);
  };
  for (std::size_t k = 0; k < panels.size(); ++k) {
    const double top = kAbove + kPanelHeight * static_cast<double>(k / columns);
    const double width = kWidth / static_cast<double>(columns);
    const double left = width * static_cast<double>(k % columns);
    place(left + kLeft, left + width - 12, top, top + kPanelHeight - kBetween);
    const WorkersPanel& panel = panels[k];
    const double scale = scale_values(panel, plot);
    for (std::size_t i = 0; i < panel.lines.size(); ++i) {
      if (panel.lines[i].empty()) continue;
      const int index = plot.begin_block(panel.title + ": " + schedulers[i],
                                         "median  low  high  place of the worker count");
      const double offset = 0.3 * within_row(i, panel.lines.size());  // bars would hide each other
      for (const auto& [count, median, interval] : panel.lines[i]) {
        const auto [low, high] = interval.value_or(stats::Interval{median, median});
        plot.point({drawable_count(median) / scale, drawable_count(low) / scale,
                    drawable_count(high) / scale, middle_of_row(count) + offset});
      }
      plot.draw("index {} using 4:1 with lines lt {} lw 1.2", index, line_type(i));
      plot.draw("index {} using 4:2:(0):($3-$2) with vectors nohead lt {} lw 1.8", index,
                line_type(i));
      plot.draw("index {} using 4:1 {}", index, mark_of(i));
    }
    plot.plot();
  }
  // The key, shared by all panels, is a separate plot, whose only point is out of sight.
  const int nothing = plot.begin_block("key", "nothing that is seen");
  plot.point({-1, -1});
  place(0, kWidth, height - key, height);
  plot.line("unset logscale y; unset title; set border 0; set yrange [0:1]");
  plot.line("set xtics ('' -1); set ytics ('' -1)");
  plot.line("set key center center horizontal samplen 1.5 spacing 1.2 width 1");
  for (std::size_t i = 0; i < schedulers.size(); ++i) {
    plot.draw("index {} using 1:2 {} title {}", nothing, mark_of(i),
              gnuplot_string(shortened(schedulers[i], kKeyColumns)));
  }
  plot.plot();
  plot.line("unset multiplot");
  return std::move(plot).finished(static_cast<int>(height));
}

namespace {

struct Mark {
  Verdict verdict;
  int colour;
  int shape;
};
constexpr std::array<Mark, 3> kMarks{{{Verdict::pass, kGreen, 7},
                                      {Verdict::fail, kVermillion, 9},
                                      {Verdict::inconclusive, kOrange, 5}}};

/// A change in per cent, clamped to what can be drawn: a ratio of two times may be any number.
double drawn(double change) {
  constexpr double kGreatest = 1e9;
  return std::isnan(change) ? 0 : 100 * std::clamp(change, -1.0, kGreatest);
}

/// Sets a range that contains everything drawn in it, with a margin.
void set_range(const std::vector<EffectRow>& rows, PlotScript& plot) {
  Extent range{0, 0};
  const auto take = [&](double change) { range.take(drawn(change)); };
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
  const double margin = 0.05 * (range.most - range.least);
  plot.line("set xrange [{:.5g}:{:.5g}]", range.least - margin, range.most + margin);
}

/// Draws the estimates with one verdict, and the dots of their blocks.
void add_verdicts(const std::vector<EffectRow>& rows, const Mark& mark, bool dots,
                  PlotScript& plot) {
  const std::string_view title = word(mark.verdict);
  const auto is_meant = [&](const EffectRow& row) {
    return row.verdict == mark.verdict && !(dots && row.blocks.empty());
  };
  if (std::ranges::none_of(rows, is_meant)) return;
  const int index =
      plot.begin_block(fmt::format("{}: {}", title, dots ? "each block" : "estimates"),
                       dots ? "change %  row, by block" : "change %  low  high  row");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const EffectRow& row = rows[i];
    if (!is_meant(row)) continue;
    const auto [low, high] = row.interval.value_or(stats::Interval{row.change, row.change});
    if (!dots) plot.point({drawn(row.change), drawn(low), drawn(high), middle_of_row(i)});
    for (std::size_t k = 0; dots && k < row.blocks.size(); ++k) {
      plot.point(
          {drawn(row.blocks[k]), middle_of_row(i) + 0.62 * within_row(k, row.blocks.size())});
    }
  }
  if (dots) {
    plot.draw("index {} using 1:2 with points pt 7 ps 0.38 lt {} notitle", index, mark.colour);
  } else {
    plot.draw("index {} using 1:4:2:3 with xerrorbars lt {} lw 2.2 pt {} ps 1.25 title '{}'", index,
              mark.colour, mark.shape, title);
  }
}

}  // namespace

Plot effect_plot(std::string name, std::string title, const std::vector<EffectRow>& rows) {
  PlotScript plot(std::move(name), std::move(title));
  std::vector<std::string> labels;
  plot.begin_block("thresholds", "noise floor %  smallest slowdown that matters %  row");
  for (const EffectRow& row : rows) {
    plot.point({drawn(row.epsilon), drawn(row.delta), middle_of_row(labels.size())});
    labels.push_back(row.label);
  }
  plot.draw(
      "index 0 using (0):3:(-$1):1:($3-0.42):($3+0.42) with boxxyerror fs solid 0.2 noborder lc "
      "rgb '#808080' title 'noise floor'");
  plot.draw(
      "index 0 using 2:($3-0.42):(0):(0.84) with vectors nohead lw 1.8 dt (6,4) lc rgb 'black' "
      "title 'threshold'");
  for (const bool dots : {true, false}) {
    for (const Mark& mark : kMarks) add_verdicts(rows, mark, dots, plot);
  }
  plot.show_title();
  plot.label_rows(labels);
  plot.line("set xlabel 'change of head against base (%); to the right is slower'");
  plot.line("set xtics format '%+g' add ('0' 0)");
  set_range(rows, plot);
  plot.line("set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#808080' lw 1");
  plot.key_below(1);
  plot.plot();
  return std::move(plot).finished(160 + 54 * static_cast<int>(rows.size()));
}

}  // namespace taskbench::reports::render
