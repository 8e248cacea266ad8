#include "reports/render/gnuplot.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "reports/model/fingerprint.hpp"
#include "reports/render/columns.hpp"

namespace taskbench::reports::render {
namespace {

constexpr int kPlotWidth = 900;
constexpr std::size_t kMaxSubject = 60;
// Limits on what is drawn. No clock shows shorter times, and nobody waits for longer ones; gnuplot
// computes with doubles, and its ranges need room around the values.
constexpr double kShortestNs = 1e-12;
constexpr double kLongestNs = 1e30;
constexpr double kGreatestCount = 1e30;
constexpr double kLeastCount = 1e-30;

// Okabe and Ito, Color universal design (2008), without black and yellow, which are hard to see on
// one of the two backgrounds; grey is last.
constexpr std::array<std::string_view, kColourCount + 1> kColours{
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#8C6D31", "#808080"};

std::string on_one_line(std::string_view text) {
  std::string result = printable(text);
  std::ranges::replace(result, '\n', ' ');
  return result;
}

bool is_plain(char each) {
  return (each >= 'a' && each <= 'z') || (each >= '0' && each <= '9') || each == '_' || each == '-';
}

}  // namespace

std::string gnuplot_string(std::string_view text) {
  // Single quotes prevent all substitutions; only the quote itself is special.
  return fmt::format("'{}'", replaced(on_one_line(text), "'", "''"));
}

std::string gnuplot_tick(std::string_view text, double place) {
  return fmt::format("{} {:g}", gnuplot_string(replaced(shortened(text, kLabelColumns), "%", "%%")),
                     place);
}

std::string plot_name(std::string_view kind, std::string_view subject) {
  if (subject.empty()) return std::string(kind);
  if (subject.size() <= kMaxSubject && std::ranges::all_of(subject, is_plain)) {
    return fmt::format("{}-{}", kind, subject);
  }
  std::string readable;
  for (char each : subject.substr(0, kMaxSubject)) {
    if (each >= 'A' && each <= 'Z') each = static_cast<char>(each - 'A' + 'a');
    if (is_plain(each)) {
      readable += each;
    } else if (!readable.empty() && readable.back() != '-') {
      readable += '-';
    }
  }
  while (readable.ends_with('-')) readable.pop_back();
  return fmt::format("{}-{}{}{}", kind, readable, readable.empty() ? "" : "-",
                     model::fingerprint_digits(subject));
}

int line_type(std::size_t index) { return static_cast<int>(index % kColourCount) + 1; }

double drawable_ns(double ns) { return std::clamp(ns, kShortestNs, kLongestNs); }

double drawable_count(double count) {
  if (!(std::abs(count) >= kLeastCount)) return 0;
  return std::clamp(count, -kGreatestCount, kGreatestCount);
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

void Span::take_ns(double value) {
  const double drawn = drawable_ns(value);
  is_cut = is_cut || drawn != value;
  take(drawn);
}

void PlotScript::show_title() {
  constexpr std::size_t kTitleColumns = 90;
  line("set title {} font title_font offset 0,-0.3",
       gnuplot_string(shortened(title_, kTitleColumns)));
}

void PlotScript::label_rows(const std::vector<std::string>& labels) {
  std::vector<std::string> ticks;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    ticks.push_back(gnuplot_tick(labels[i], middle_of_row(i)));
  }
  line("set ytics ({}) scale 0", fmt::join(ticks, ", "));
  line("set yrange [{:g}:0.4]", static_cast<double>(labels.size()) + 0.6);
  line("unset grid; set grid xtics lc rgb '#a0a0a0' lw 0.5 dt (2,4); set border 1");
}

TimeUnit PlotScript::scale_time(char axis, const std::string& quantity, const Span& span) {
  constexpr double kLogFrom = 12;  // greatest over least, beyond which the scale is logarithmic
  const TimeUnit unit = time_unit(span.least);
  const bool is_wide = span.most > kLogFrom * span.least;
  line("set {}label {}", axis,
       gnuplot_string(fmt::format("{} ({}){}{}", quantity, unit.name,
                                  is_wide ? ", logarithmic scale" : "",
                                  span.is_cut ? "; times beyond it are drawn at its end" : "")));
  if (is_wide) {
    const double least = span.least / unit.ns / 1.2;
    const double most = span.most / unit.ns * 1.2;
    line("set logscale {0}; set {0}tics ({1})", axis, logarithmic_ticks(least, most));
    line("set {}range [{:g}:{:g}]", axis, least, most);
    return unit;
  }
  const double margin = std::max(0.04 * (span.most - span.least), 0.002 * span.most);
  line("set {}range [{:.9g}:{:.9g}]", axis, (span.least - margin) / unit.ns,
       (span.most + margin) / unit.ns);
  return unit;
}

void PlotScript::key_below(std::size_t lines) {
  line(
      "set bmargin {:g}; set key at screen 0.5, screen 0.01 center bottom horizontal samplen 1.5 "
      "spacing 1.2 width 1",
      5 + 1.4 * static_cast<double>(lines));
}

int PlotScript::begin_block(std::string_view what, std::string_view columns) {
  if (blocks_ > 0) data_ += "\n\n";  // two empty lines separate two blocks
  data_ += fmt::format("# index {}: {}\n# {}\n", blocks_, on_one_line(what), columns);
  return blocks_++;
}

void PlotScript::point(std::initializer_list<double> numbers) {
  data_ += fmt::format("{}\n", fmt::join(numbers, " "));
}

void PlotScript::plot() {
  line("plot {}", fmt::join(parts_, ", \\\n     "));
  parts_.clear();
}

Plot PlotScript::finished(int height) && {
  std::string script = fmt::format(
      "# {0}\n"
      "# It reads {1}.dat and writes {1}.svg and {1}.png. After a change:  gnuplot {1}.gp\n"
      "set encoding utf8\n"
      "data = '{1}.dat'\n",
      on_one_line(title_), name_);
  for (std::size_t i = 0; i < kColours.size(); ++i) {
    script += fmt::format("set linetype {} lc rgb '{}'\n", i + 1, kColours[i]);
  }
  script += fmt::format(
      "do for [form in 'svg png'] {{\n"
      "if (form eq 'svg') {{\n"
      "  font_size = 13\n"
      "  set terminal svg size {0},{1} noenhanced font 'sans-serif,13' background rgb '#ffffff'\n"
      "}} else {{\n"
      "  font_size = 10.5\n"
      "  set terminal pngcairo size {2},{3} noenhanced font 'sans-serif,10.5' fontscale 2 \\\n"
      "    linewidth 2 pointscale 2 background rgb '#ffffff'\n"
      "}}\n"
      "title_font = sprintf(',%g', 1.15 * font_size)\n"
      "small_font = sprintf(',%g', 0.85 * font_size)\n"
      "set output '{4}.'.form\n"
      "set border 3 lc rgb '#808080' lw 0.8\n"
      "set tics nomirror out scale 0.6 textcolor rgb 'black'\n"
      "set grid lc rgb '#a0a0a0' lw 0.5 dt (2,4)\n"
      "set bmargin 4.2\n"
      "unset key\n"
      "{5}\n"
      "unset output\n"
      "}}\n",
      kPlotWidth, height, 2 * kPlotWidth, 2 * height, name_, fmt::join(lines_, "\n"));
  return {std::move(name_), std::move(title_), std::move(script), std::move(data_)};
}

}  // namespace taskbench::reports::render
