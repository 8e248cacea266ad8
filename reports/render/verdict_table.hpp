// The layout of reports of verdicts: the table on a terminal, and the comment on a pull request.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/model/paired.hpp"
#include "reports/render/bars.hpp"
#include "reports/render/document.hpp"
#include "reports/render/verdict_text.hpp"
#include "reports/verdict/counter_move.hpp"
#include "reports/verdict/decision.hpp"
#include "reports/verdict/exact.hpp"

namespace taskbench::reports::render {

/// The figures, with the reason below each row that fails.
[[nodiscard]] Table table_of(const VerdictText& text);

/// The table; what is undecided, and the remarks; and the headline last, where it remains visible
/// on a terminal.
[[nodiscard]] Document document(const VerdictText& text);

/// The first cells of a row: its name, its verdict, both times, the change, and its interval.
[[nodiscard]] Cells compared_cells(const Bar& row, double base_ns, double head_ns);

/// The titles of these cells.
[[nodiscard]] Cells compared_titles(std::string_view base, std::string_view head,
                                    double interval_level);

/// "4.100 → 4.600 ms"
[[nodiscard]] std::string levels_text(double base_ns, double head_ns);

/// A value of a metric: "12.3 MB", "1,840".
[[nodiscard]] std::string value_text(const std::string& metric, double value);

/// Converts the change of a metric of which more is better: verdicts have it as base over head,
/// this is head over base, less 1.
[[nodiscard]] inline double head_over_base(double change) { return 1 / (1 + change) - 1; }

/// The verdict on a requested metric, with changes as head over base, less 1, even if more is
/// better.
template <class Judged>
[[nodiscard]] Judged as_ratio(Judged row) {
  if (!row.more_is_better) return row;
  row.delta = -head_over_base(row.delta);
  row.change = head_over_base(row.change);
  if (row.low) row.low = head_over_base(*row.low);
  if (row.high) row.high = head_over_base(*row.high);
  std::swap(row.low, row.high);
  if constexpr (requires { row.detectable; }) {
    if (row.detectable) row.detectable = -head_over_base(*row.detectable);
  }
  return row;
}

/// Makes the benchmark's verdict one about this metric, using those figures that it has.
template <class Figures>
void take_figures(Metric metric, const Figures& from, VerdictText::Benchmark& benchmark) {
  benchmark.metric = metric;
  benchmark.more_is_better = false;
  benchmark.improved = metric == Metric::time && from.improved;
  benchmark.verdict = from.verdict;
  benchmark.change = from.change;
  benchmark.low = from.low;
  benchmark.high = from.high;
  benchmark.threshold = from.delta;
}

/// Likewise for a requested metric.
template <class Judged>
void take_judged(const Judged& from, VerdictText::Benchmark& benchmark) {
  take_figures(Metric::asked_for, as_ratio(from), benchmark);
  benchmark.metric_name = from.metric;
  benchmark.more_is_better = from.more_is_better;
  benchmark.levels =
      value_text(from.metric, from.base) + " → " + value_text(from.metric, from.head);
}

/// Thresholds other than those of times: "5.0 % more peak_memory_bytes".
[[nodiscard]] Sentences judged_thresholds(const std::vector<model::JudgedMetric>& judged);

/// "PASS, faster"
[[nodiscard]] std::string verdict_cell(verdict::Verdict verdict, bool improved,
                                       std::string_view better = "faster");

/// A sentence for the benchmarks whose noise floor is higher than `delta` and therefore replaces
/// it.
[[nodiscard]] Sentences large_floors(const std::map<std::string, model::NoiseFloor>& floors,
                                     double delta);

/// A row for counts, with dashes for its figures at first.
[[nodiscard]] VerdictText::Row counted_row(const Cells& titles, std::string_view what,
                                           verdict::Verdict verdict, bool acknowledged,
                                           bool is_fewer);

/// Adds a row for the instructions; if they are only shown, only if they have changed. If the
/// benchmark would pass by its times but does not by its instructions, its verdict is then about
/// these.
void add_instructions(const verdict::InstructionsVerdict& instructions, const Cells& titles,
                      VerdictText::Benchmark& benchmark);

/// "5.00 % more instructions, 1,000 → 1,050 per iteration"; empty if they are about the same.
[[nodiscard]] std::string instructions_text(const verdict::InstructionsVerdict& instructions);

/// "per iteration steals 3.00 → 9.00"; empty if none moved.
[[nodiscard]] std::string moved_counters(const std::vector<verdict::CounterMove>& moves);

/// For add_shared(): why there is no row of instructions.
inline constexpr std::string_view kNoInstructions = "no instruction counts ";

/// A sentence that explains the row of instructions.
[[nodiscard]] std::string instructions_remark();

/// The beginning of a comment.
struct CommentStyle {
  std::string title = "taskbench";
  bool marked = false;  ///< kCommentMarker is its first line
};

/// The hidden line by which CI finds the comment to update. Never change it.
inline constexpr std::string_view kCommentMarker = "<!-- taskbench-gate -->";

/// A comment of one section.
[[nodiscard]] Document comment_of(const CommentStyle& style, std::string_view headline,
                                  Section body);

/// A comment below its heading: at most 36 lines that are not folded, for any number of benchmarks.
/// `compared` names the two sides; `method` goes below the basis.
[[nodiscard]] Section comment_body(const VerdictText& text, const std::string& compared,
                                   std::vector<Block> method = {});

}  // namespace taskbench::reports::render
