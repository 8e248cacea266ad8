// What the tables and comments of verdicts have in common: of files, of pairs, and of baselines.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/paired.hpp"
#include "reports/render/bars.hpp"
#include "reports/render/columns.hpp"
#include "reports/render/numbers.hpp"
#include "reports/render/render.hpp"
#include "reports/render/sentences.hpp"
#include "reports/verdict/decision.hpp"
#include "reports/verdict/exact.hpp"

namespace taskbench::reports::render {

/// What every form of a report of verdicts says, piece by piece.
struct VerdictText {
  /// A line of the table: of a benchmark's times, or below it of its CPU time or instructions.
  struct Row {
    Cells cells;
    verdict::Verdict verdict = verdict::Verdict::inconclusive;
    std::optional<Bar> bar{};  ///< in a comment: times have one
  };
  std::string headline;  ///< "FAIL: 1 of 5 benchmarks slower"
  Cells titles;
  std::vector<Row> rows;  ///< in the order of the benchmarks
  Sentences remarks;
  std::string basis{};  ///< how it was measured and judged; may be empty
};

/// On a terminal: the table, the sentences below it, and the headline last.
[[nodiscard]] std::string table(const VerdictText& text, const TableStyle& style);

/// The table in Markdown, aligned in the same way.
[[nodiscard]] std::string markdown_table(const VerdictText& text);

/// How each row begins: its name, both times, the change, and the interval of the change.
[[nodiscard]] Cells compared_cells(const Bar& row, double base_ns, double head_ns);

/// "PASS, faster"
[[nodiscard]] std::string verdict_cell(verdict::Verdict verdict, bool improved,
                                       std::string_view better = "faster");

template <class Row, class Test>
[[nodiscard]] std::size_t how_many(const std::vector<Row>& rows, Test test) {
  return static_cast<std::size_t>(std::ranges::count_if(rows, test));
}

/// "FAIL: 1 of 5 benchmarks slower"; `failing` may say more of those: ", 1 of them only …".
[[nodiscard]] std::string headline_of(verdict::Verdict overall, std::size_t failed,
                                      std::size_t undecided, std::size_t all, std::size_t faster,
                                      std::string_view failing);

template <class Row>
[[nodiscard]] std::string headline_of(verdict::Verdict overall, const std::vector<Row>& rows,
                                      std::string_view failing = "") {
  const auto of = [&](verdict::Verdict verdict) {
    return how_many(rows, [&](const Row& row) { return row.verdict == verdict; });
  };
  return headline_of(overall, of(verdict::Verdict::fail), of(verdict::Verdict::inconclusive),
                     rows.size(), how_many(rows, &Row::improved), failing);
}

/// Names and verdicts begin at the left, figures end at the right.
[[nodiscard]] std::vector<bool> columns_to_the_left(const Cells& titles);

/// In Markdown: the remarks as a list, after an empty line.
[[nodiscard]] std::string bullets(const Sentences& remarks);

/// A sentence for each benchmark whose noise floor is more than what matters: it decides in its
/// place.
[[nodiscard]] Sentences large_floors(const std::map<std::string, model::NoiseFloor>& floors,
                                     double delta);

/// The row below that of the times. What is not known is a dash.
[[nodiscard]] VerdictText::Row instruction_row(const Cells& titles,
                                               const verdict::InstructionsVerdict& instructions);

/// For add_shared(): why there is no such row.
inline constexpr std::string_view kNoInstructions = "no instruction counts ";

/// What that row means, a sentence.
[[nodiscard]] std::string instructions_remark();

/// How a comment begins.
struct CommentStyle {
  std::string title = "taskbench";
  bool marked = false;  ///< with kCommentMarker as its first line
};

/// By this hidden line CI finds the comment that it is to update. Never change it.
inline constexpr std::string_view kCommentMarker = "<!-- taskbench-gate -->";

[[nodiscard]] std::string comment_heading(const CommentStyle& style, std::string_view text);

/// A whole one: the verdict first, what was compared, a bar for each time, the remarks, and the
/// figures with what they rest on, folded away.
[[nodiscard]] std::string comment(const CommentStyle& style, const VerdictText& text,
                                  std::string_view compared, double interval_level);

}  // namespace taskbench::reports::render
