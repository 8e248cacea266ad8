// The language of gnuplot: strings, points, scales, and the beginning and end of every script.
// Written for gnuplot 5; nothing here runs it. A result file may contain any number: whatever it
// is, everything here terminates and draws something.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/render/document.hpp"
#include "reports/render/numbers.hpp"
#include "reports/render/sentences.hpp"

namespace taskbench::reports::render {

/// A string of gnuplot, quotes included. Control characters become U+FFFD, line breaks spaces.
[[nodiscard]] std::string gnuplot_string(std::string_view text);

/// Longest label, in columns, that leaves room for the plot itself.
inline constexpr std::size_t kLabelColumns = 48;

/// The label of a tick, shortened to kLabelColumns. gnuplot would interpret a per cent sign in it
/// as a format.
[[nodiscard]] std::string gnuplot_tick(std::string_view text, double place);

/// "distribution-chained_spawn", made of lower-case letters, digits, dashes and underscores. A long
/// subject, or one with other characters, is cut and followed by eight digits of its hash: equal
/// names mean equal subjects, on every system and in every run.
[[nodiscard]] std::string plot_name(std::string_view kind, std::string_view subject);

/// Number of colours; beyond that, they repeat.
inline constexpr std::size_t kColourCount = 7;
/// The line type of a colour of Okabe and Ito, from 1 on, as every script defines them; they repeat
/// after the last.
[[nodiscard]] int line_type(std::size_t index);
inline constexpr int kBlue = 1;
inline constexpr int kOrange = 2;
inline constexpr int kGreen = 3;
inline constexpr int kVermillion = 4;

/// A time, clamped to what an axis can show.
[[nodiscard]] double drawable_ns(double ns);

/// A count, which may be 0 or negative, clamped to what an axis can show.
[[nodiscard]] double drawable_count(double count);

/// Ticks at 1, 2 and 5 times the powers of ten within a range; in a wide one only at the powers, at
/// most about ten.
[[nodiscard]] std::string logarithmic_ticks(double least, double most);

/// Ticks at about four round numbers of a range that contains 0.
[[nodiscard]] std::string linear_ticks(double least, double most);

/// The range of a scale of times, limited to what can be drawn.
struct Span : Extent {
  bool is_cut = false;  ///< a value was outside the limits

  void take_ns(double value);
};

/// The position of the middle of a row, or of any other item counted from 0.
[[nodiscard]] inline double middle_of_row(std::size_t index) {
  return static_cast<double>(index + 1);
}

/// A plot under construction: commands, points, and how they are drawn.
class PlotScript {
 public:
  PlotScript(std::string name, std::string title)
      : name_(std::move(name)), title_(std::move(title)) {}

  template <class... Args>
  void line(fmt::format_string<Args...> text, Args&&... args) {
    add(lines_, text, std::forward<Args>(args)...);
  }
  void show_title();
  /// Labels the rows, the first on top.
  void label_rows(const std::vector<std::string>& labels);
  /// Sets the scale of a time axis and returns its unit.
  TimeUnit scale_time(char axis, const std::string& quantity, const Span& span);
  /// Puts a key of this many lines below the plot and its axis.
  void key_below(std::size_t lines);

  /// Begins a block of points, and returns its index in gnuplot. `columns` names the numbers of
  /// each point.
  int begin_block(std::string_view what, std::string_view columns);
  void point(std::initializer_list<double> numbers);

  /// Adds an item to draw from the blocks: "index 0 using 1:2 with points".
  template <class... Args>
  void draw(fmt::format_string<Args...> text, Args&&... args) {
    parts_.push_back("data " + fmt::format(text, std::forward<Args>(args)...));
  }
  /// Adds the command that draws all items since the last one.
  void plot();

  /// The finished plot, whose script draws everything once for each output format.
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
