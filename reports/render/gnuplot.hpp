// The language of gnuplot: strings, points, scales, and what every script begins and ends with.
// Written for gnuplot 5; nothing here runs it. A result file may hold any number: all of it ends,
// and draws something, for each of them.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/render/document.hpp"
#include "reports/render/numbers.hpp"
#include "reports/render/sentences.hpp"

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
/// A number of a colour of Okabe and Ito that every script defines as a line type, from 1 on; they
/// repeat after the last.
[[nodiscard]] int line_type(std::size_t index);
inline constexpr int kBlue = 1;
inline constexpr int kOrange = 2;
inline constexpr int kGreen = 3;
inline constexpr int kVermillion = 4;

/// A time within what an axis can show, for a shorter or longer one its end.
[[nodiscard]] double drawable_ns(double ns);

/// The same for a count, which may be 0 or negative.
[[nodiscard]] double drawable_count(double count);

/// 1, 2 and 5 times the powers of ten that lie in a range; of a wide one the powers alone, at most
/// about ten.
[[nodiscard]] std::string logarithmic_ticks(double least, double most);

/// Ticks at about four round numbers of a range that has 0 in it.
[[nodiscard]] std::string linear_ticks(double least, double most);

/// The range of a scale: what it has been given, within what can be drawn.
struct Span {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();
  bool is_cut = false;  ///< a value lay outside of what can be drawn

  void take_ns(double value);
};

/// Where a row, or another thing that is counted from 0 on, has its middle.
[[nodiscard]] inline double middle_of_row(std::size_t index) {
  return static_cast<double>(index + 1);
}

/// A plot as it grows: commands, points, and what is drawn of them.
class PlotScript {
 public:
  PlotScript(std::string name, std::string title)
      : name_(std::move(name)), title_(std::move(title)) {}

  template <class... Args>
  void line(fmt::format_string<Args...> text, Args&&... args) {
    add(lines_, text, std::forward<Args>(args)...);
  }
  void show_title();
  /// Ticks of the rows, the first on top.
  void label_rows(const std::vector<std::string>& labels);
  /// Sets the scale of a time axis and returns its unit.
  TimeUnit scale_time(char axis, const std::string& quantity, const Span& span);
  /// A key below the plot and its axis, which takes so many lines.
  void key_below(std::size_t lines);

  /// The points that follow, which gnuplot knows by the index that is returned. `columns` names the
  /// numbers of each.
  int begin_block(std::string_view what, std::string_view columns);
  void point(std::initializer_list<double> numbers);

  /// "index 0 using 1:2 with points", of the blocks.
  template <class... Args>
  void draw(fmt::format_string<Args...> text, Args&&... args) {
    parts_.push_back("data " + fmt::format(text, std::forward<Args>(args)...));
  }
  /// The command for all that was drawn since the last.
  void plot();

  /// It draws its commands once for each output format.
  [[nodiscard]] Plot finished(int height) &&;

 private:
  std::string name_;
  std::string title_;
  std::vector<std::string> lines_;
  std::vector<std::string> parts_;
  std::string data_;
  int blocks_ = 0;
};

}  // namespace taskbench::reports::render
