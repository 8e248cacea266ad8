// What the tables and comments of the verdicts have in common: of files, of pairs, and of
// baselines.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/model/paired.hpp"
#include "reports/render/columns.hpp"
#include "reports/render/render.hpp"
#include "reports/verdict/decision.hpp"

namespace taskbench::reports::render {

/// What every form of a report of verdicts says, piece by piece.
struct VerdictText {
  /// A line of the table: of a benchmark's times, or below it of its instructions.
  struct Row {
    Cells cells;
    verdict::Verdict verdict = verdict::Verdict::inconclusive;
  };
  std::string headline;  ///< "FAIL: 1 of 5 benchmarks slower"
  Cells titles;
  std::vector<Row> rows;             ///< in the order of the benchmarks
  std::vector<std::string> remarks;  ///< sentences
  std::string basis;                 ///< how it was measured and judged; may be empty
};

/// On a terminal: the table, the sentences below it, and the headline last.
[[nodiscard]] std::string table(const VerdictText& text, const TableStyle& style);

/// The table in Markdown, aligned in the same way.
[[nodiscard]] std::string markdown_table(const VerdictText& text);

/// In a comment: the remarks as a list.
[[nodiscard]] std::string bullets(const std::vector<std::string>& remarks);

/// In a comment: the table and the basis, folded away.
[[nodiscard]] std::string folded_figures(const VerdictText& text);

/// A relative change as per cent with its sign: "+10.2 %".
[[nodiscard]] std::string percent_change(double change);

/// For aligned(): names and verdicts begin at the left, figures end at the right.
[[nodiscard]] std::vector<bool> columns_to_the_left(const Cells& titles);

/// "3.0 %"
[[nodiscard]] std::string percent(double part);

/// Why there is none, of how many benchmarks, and the first of them.
struct SharedReason {
  std::string_view name;
  std::string_view reason;
  std::size_t count = 0;
};

/// The reasons of `names_and_reasons`, each once, in the order in which they first appear; empty
/// ones are left out. What is returned refers to the texts that were given.
[[nodiscard]] std::vector<SharedReason> shared_reasons(
    std::span<const std::pair<std::string_view, std::string_view>> names_and_reasons);

/// Names with the reason why each is undecided, as sentences: one for each reason, which names the
/// benchmark or says how many there are.
[[nodiscard]] std::vector<std::string> undecided_remarks(
    const std::vector<std::pair<std::string, std::string>>& names_and_reasons);

/// "1 block", "2 blocks", "2 processes"
[[nodiscard]] std::string counted(std::size_t number, std::string_view noun);

/// "95 % interval"
[[nodiscard]] std::string interval_title(double level);

/// A sentence for each benchmark whose noise floor is more than what matters: it decides in its
/// place.
[[nodiscard]] std::vector<std::string> large_floors(
    const std::map<std::string, model::NoiseFloor>& floors, double delta);

/// How a comment begins.
struct CommentStyle {
  std::string title = "taskbench";
  bool marked = false;  ///< with kCommentMarker as its first line
};

/// By this hidden line CI finds the comment that it is to update. Never change it.
inline constexpr std::string_view kCommentMarker = "<!-- taskbench-gate -->";

/// How a comment begins: the hidden line that CI finds it by, and the title.
[[nodiscard]] std::string comment_heading(const CommentStyle& style, std::string_view text);

}  // namespace taskbench::reports::render
