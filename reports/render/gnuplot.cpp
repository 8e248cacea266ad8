#include "reports/render/gnuplot.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "reports/model/fingerprint.hpp"
#include "reports/render/columns.hpp"

namespace taskbench::reports::render {
namespace {

constexpr int kPlotWidth = 900;
constexpr std::size_t kMaxSubject = 60;

// Okabe and Ito, Color universal design (2008), without black and yellow, which are hard to see on
// one of the two backgrounds; grey is the last.
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
  // Between single quotes nothing is replaced, and only the quote itself is special.
  std::string result = "'";
  for (const char each : on_one_line(text)) result += each == '\'' ? "''" : std::string(1, each);
  return result + '\'';
}

std::string gnuplot_tick(std::string_view text, double place) {
  std::string label;
  for (const char each : shortened(text, kLabelColumns))
    label += each == '%' ? "%%" : std::string(1, each);
  return fmt::format("{} {:g}", gnuplot_string(label), place);
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

int PlotData::begin_block(std::string_view what, std::string_view columns) {
  if (blocks_ > 0) text_ += "\n\n";  // two empty lines part two blocks
  text_ += fmt::format("# index {}: {}\n# {}\n", blocks_, on_one_line(what), columns);
  return blocks_++;
}

void PlotData::add(std::initializer_list<double> numbers) {
  text_ += fmt::format("{}\n", fmt::join(numbers, " "));
}

Plot plot_of(std::string name, std::string title, int height, const std::vector<std::string>& lines,
             const PlotData& data) {
  std::string script = fmt::format(
      "# {}\n"
      "# It reads {}.dat and writes {}.svg and {}.png. After a change:  gnuplot {}.gp\n"
      "set encoding utf8\n"
      "data = '{}.dat'\n",
      on_one_line(title), name, name, name, name, name);
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
      kPlotWidth, height, 2 * kPlotWidth, 2 * height, name, fmt::join(lines, "\n"));
  return {std::move(name), std::move(title), std::move(script), data.text()};
}

std::string key_below(std::size_t lines) {
  return fmt::format(
      "set bmargin {:g}; set key at screen 0.5, screen 0.01 center bottom horizontal samplen 1.5 "
      "spacing 1.2 width 1",
      5 + 1.4 * static_cast<double>(lines));
}

std::string plot_command(const std::vector<std::string>& parts) {
  return fmt::format("plot {}", fmt::join(parts, ", \\\n     "));
}

}  // namespace taskbench::reports::render
