// The plots of a report. Each is text for gnuplot; captions explain them. Times are in ns and are
// shown in a suitable unit.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/render/document.hpp"
#include "reports/stats/interval.hpp"
#include "reports/verdict/decision.hpp"

namespace taskbench::reports::render {

/// Values with their median.
struct Sampled {
  std::vector<double> values;  ///< all above 0
  double median = 0;
  std::optional<stats::Interval> interval;  ///< of the median
};

/// Computes the median and its 95 % interval. `values` must not be empty.
[[nodiscard]] Sampled sampled(std::vector<double> values);

/// The sample for drawing, with at most `most` of its values: those of evenly spread ranks,
/// including the least and the greatest.
[[nodiscard]] Sampled drawable(const Sampled& sample, std::size_t most);

struct DotRow {
  std::string label;
  Sampled sample;
  int colour = 1;  ///< a line type
};

/// The number of rows up to which a plot is readable; callers split more over several plots.
inline constexpr std::size_t kMaxRows = 16;

/// Number of dots for each of this many samples in one plot. Larger samples are thinned out.
[[nodiscard]] std::size_t most_dots(std::size_t samples);

/// A plot with a row for each sample, on one scale: every value as a dot, the median as a line, its
/// interval as a bar. `quantity` is the measured quantity: "wall time of one iteration".
[[nodiscard]] Plot distribution_plot(std::string name, std::string title,
                                     const std::string& quantity, const std::vector<DotRow>& rows);

/// A median at one of the positions of a plot, which are counted from 0.
struct MedianAt {
  std::size_t place;
  double median;
  std::optional<stats::Interval> interval;
};

/// One variant of several benchmarks, such as a scheduler.
struct Variant {
  std::string label;
  std::vector<MedianAt> points;  ///< in ns; their positions are the groups of overview_plot()
};

/// A plot with a row for each group, and in it a point for each variant, with its own colour and
/// shape.
[[nodiscard]] Plot overview_plot(std::string name, std::string title, const std::string& quantity,
                                 const std::vector<std::string>& groups,
                                 const std::vector<Variant>& variants);

/// The effect on a benchmark. All numbers are relative: 0.1 is 10 % slower.
struct EffectRow {
  std::string label;
  verdict::Verdict verdict = verdict::Verdict::inconclusive;
  double change = 0;
  std::optional<stats::Interval> interval;
  double epsilon = 0;
  double delta = 0;
  std::vector<double> blocks{};  ///< the change in each block
};

/// The interval; empty if either end is.
[[nodiscard]] inline std::optional<stats::Interval> interval_of(std::optional<double> low,
                                                                std::optional<double> high) {
  return low && high ? std::optional(stats::Interval{*low, *high}) : std::nullopt;
}

[[nodiscard]] Plot effect_plot(std::string name, std::string title,
                               const std::vector<EffectRow>& rows);

/// One result of a benchmark, in a series sorted by time.
struct HistoryPoint {
  std::string label;  ///< "1a2b3c4 2026-03-14"
  Sampled sample;
  std::size_t machine = 0;  ///< results with the same number can be compared
};

/// A plot of results over time. `machines` are the names for HistoryPoint::machine.
[[nodiscard]] Plot history_plot(std::string name, std::string title, const std::string& quantity,
                                const std::vector<HistoryPoint>& points,
                                const std::vector<std::string>& machines);

/// One counter in several cases.
struct CounterPanel {
  std::string title;
  struct Row {
    std::vector<double> values;    ///< one per repetition; may be empty
    std::optional<double> median;  ///< empty: not counted
  };
  std::vector<Row> rows;
};

/// One quantity by number of workers.
struct WorkersPanel {
  std::string title;
  bool is_time = false;  ///< in ns
  /// One for each scheduler, may be empty. Their positions are the worker counts.
  std::vector<std::vector<MedianAt>> lines;
};

/// A plot with a panel for each quantity, each with its own scale and a line for each scheduler.
[[nodiscard]] Plot workers_plot(std::string name, std::string title,
                                const std::vector<std::string>& schedulers,
                                const std::vector<int>& workers,
                                const std::vector<WorkersPanel>& panels);

/// A plot with a panel for each counter, each with its own scale from 0 and a bar for each case.
[[nodiscard]] Plot counters_plot(std::string name, std::string title, const std::string& quantity,
                                 const std::vector<std::string>& cases,
                                 const std::vector<CounterPanel>& panels);

}  // namespace taskbench::reports::render
