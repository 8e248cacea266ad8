// The plots of a report. Each is text for gnuplot; what it shows in words is the business of the
// caption beside it. Times are in ns and are shown in the unit that suits them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/render/document.hpp"
#include "reports/stats/interval.hpp"
#include "reports/verdict/decision.hpp"

namespace taskbench::reports::render {

/// A median with what it is the median of.
struct Sampled {
  std::vector<double> values;  ///< all above 0
  double median = 0;
  std::optional<stats::Interval> interval;  ///< of the median
};

/// At 95 %. `values` is not empty.
[[nodiscard]] Sampled sampled(std::vector<double> values);

/// With all of it drawable, and of the values at most `most`: those of evenly spread ranks, the
/// least and the greatest among them.
[[nodiscard]] Sampled drawable(const Sampled& sample, std::size_t most);

struct DotRow {
  std::string label;
  Sampled sample;
  int colour = 1;  ///< a line type
};

/// Most rows that a plot can have and be read; callers make several plots of more.
inline constexpr std::size_t kMaxRows = 16;

/// How many dots each of so many samples in one plot may have. Of a larger one that many are drawn.
[[nodiscard]] std::size_t most_dots(std::size_t samples);

/// A row for each, all on one scale: every value as a dot, the median as a line, its interval as a
/// bar. `quantity` is what is measured: "wall time of one iteration".
[[nodiscard]] Plot distribution_plot(std::string name, std::string title,
                                     const std::string& quantity, const std::vector<DotRow>& rows);

/// The same benchmark in several variants, for several benchmarks.
struct Variant {
  std::string label;
  struct Point {
    std::size_t group;  ///< an index of OverviewGroups
    double median_ns;
    std::optional<stats::Interval> interval_ns;
  };
  std::vector<Point> points;
};

/// A row for each group, in it a point for each variant, in its own colour and shape.
[[nodiscard]] Plot overview_plot(std::string name, std::string title, const std::string& quantity,
                                 const std::vector<std::string>& groups,
                                 const std::vector<Variant>& variants);

/// How far a benchmark has moved; all numbers relative: 0.1 is 10 % slower.
struct EffectRow {
  std::string label;
  verdict::Verdict verdict = verdict::Verdict::inconclusive;
  double change = 0;
  std::optional<stats::Interval> interval;
  double epsilon = 0;
  double delta = 0;
  std::vector<double> blocks;  ///< the change in each block
};

[[nodiscard]] Plot effect_plot(std::string name, std::string title,
                               const std::vector<EffectRow>& rows);

/// One result of a benchmark, among others in the order of time.
struct HistoryPoint {
  std::string label;  ///< "1a2b3c4 2026-03-14"
  Sampled sample;
  std::size_t machine = 0;  ///< results of one number can be compared
};

/// `machines` are the names of the numbers.
[[nodiscard]] Plot history_plot(std::string name, std::string title, const std::string& quantity,
                                const std::vector<HistoryPoint>& points,
                                const std::vector<std::string>& machines);

/// One counter in several cases.
struct CounterPanel {
  std::string title;
  struct Row {
    std::vector<double> values;    ///< one a repetition; may be empty
    std::optional<double> median;  ///< empty: not counted
  };
  std::vector<Row> rows;
};

/// One quantity by the number of workers.
struct WorkersPanel {
  std::string title;
  bool is_time = false;  ///< in ns
  struct Point {
    std::size_t place;  ///< an index of the worker counts
    double median;
    std::optional<stats::Interval> interval;
  };
  std::vector<std::vector<Point>> lines;  ///< one for each scheduler; may be empty
};

/// A panel for each, each with its own scale, and in it a line for each scheduler.
[[nodiscard]] Plot workers_plot(std::string name, std::string title,
                                const std::vector<std::string>& schedulers,
                                const std::vector<int>& workers,
                                const std::vector<WorkersPanel>& panels);

/// A panel for each counter, each with its own scale from 0, and in it a bar for each case.
[[nodiscard]] Plot counters_plot(std::string name, std::string title, const std::string& quantity,
                                 const std::vector<std::string>& cases,
                                 const std::vector<CounterPanel>& panels);

}  // namespace taskbench::reports::render
