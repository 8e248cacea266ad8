// The language of gnuplot: strings, data, and what every script begins and ends with. Written for
// gnuplot 5; nothing here runs it.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "reports/render/document.hpp"

namespace taskbench::reports::render {

/// A string of gnuplot, quotes included. Control characters and line breaks in it become U+FFFD and
/// spaces.
[[nodiscard]] std::string gnuplot_string(std::string_view text);

/// So many columns of text leave room for the plot itself.
inline constexpr std::size_t kLabelColumns = 48;

/// The label of a tick, in which gnuplot would take a per cent sign for a format; shortened to
/// kLabelColumns.
[[nodiscard]] std::string gnuplot_tick(std::string_view text, double place);

/// "distribution-chained_spawn": of lower-case letters, digits, dashes and underscores. A subject
/// that has other characters, or is long, is cut and followed by eight digits of its hash: equal
/// names mean equal subjects, on every system and in every run.
[[nodiscard]] std::string plot_name(std::string_view kind, std::string_view subject);

/// Colours that tell things apart; with more things than that they repeat.
inline constexpr std::size_t kColourCount = 7;
/// A number of a colour of Okabe and Ito that script() defines as a line type, from 1 on; they
/// repeat after the last.
[[nodiscard]] int line_type(std::size_t index);
inline constexpr int kBlue = 1;
inline constexpr int kOrange = 2;
inline constexpr int kGreen = 3;
inline constexpr int kVermillion = 4;
inline constexpr int kGrey = 8;

/// The points of a plot: blocks that gnuplot knows by their index.
class PlotData {
 public:
  /// `columns` names the numbers of each line; the index of the new block is returned.
  int begin_block(std::string_view what, std::string_view columns);
  void add(std::initializer_list<double> numbers);
  [[nodiscard]] std::string text() const { return text_; }

 private:
  std::string text_;
  int blocks_ = 0;
};

/// A plot that draws `lines` once for each output format.
[[nodiscard]] Plot plot_of(std::string name, std::string title, int height,
                           const std::vector<std::string>& lines, const PlotData& data);

/// A key below the plot and its axis, which takes so many lines.
[[nodiscard]] std::string key_below(std::size_t lines);

/// "plot a, b, c", each on a line of its own.
[[nodiscard]] std::string plot_command(const std::vector<std::string>& parts);

}  // namespace taskbench::reports::render
