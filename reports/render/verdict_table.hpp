// What the tables and comments of the verdicts have in common: of files, of pairs, and of
// baselines.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/model/paired.hpp"
#include "reports/render/columns.hpp"
#include "reports/render/render.hpp"
#include "reports/verdict/decision.hpp"
#include "reports/verdict/exact.hpp"

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

/// How each row begins: its name, both times, the change, and the interval of the change.
[[nodiscard]] Cells compared_cells(std::string name, double base_ns, double head_ns, double change,
                                   std::optional<double> low, std::optional<double> high);

/// "PASS, faster"
[[nodiscard]] std::string verdict_cell(verdict::Verdict verdict, bool improved,
                                       std::string_view better = "faster");

/// "FAIL: 1 of 5 benchmarks slower"; `failing` may say more of those: ", 1 of them only …".
[[nodiscard]] std::string headline_of(verdict::Verdict overall, std::size_t failed,
                                      std::size_t undecided, std::size_t all, std::size_t faster,
                                      std::string_view failing = "");

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

// Counts of instructions against each other, as the forms of `compare`, `ab` and `gate` show them.

/// The cells of a row below that of the benchmark's times. Those without a count are a dash.
struct InstructionCells {
  std::string title;  ///< "  its instructions"
  std::string base;   ///< per iteration
  std::string head;
  std::string change;   ///< "+0.31 %"
  std::string spread;   ///< "exact", or how far counts of one program are apart: "± 0.40 %"
  std::string verdict;  ///< "PASS, fewer"
};
[[nodiscard]] InstructionCells instruction_cells(const verdict::InstructionsVerdict& instructions);

/// What the row means, a sentence.
[[nodiscard]] std::string instructions_remark();

/// Why they are not known, of the benchmark or of so many with the same reason.
[[nodiscard]] std::string not_known_remark(const SharedReason& shared);

/// Those of the rows where they are not known; equal reasons are told once.
template <class Row>
void add_not_known(const std::vector<Row>& rows, std::vector<std::string>& lines) {
  std::vector<std::pair<std::string_view, std::string_view>> reasons;
  for (const Row& row : rows) {
    if (row.instructions) reasons.emplace_back(row.name, row.instructions->reason);
  }
  for (const SharedReason& each : shared_reasons(reasons)) lines.push_back(not_known_remark(each));
}

}  // namespace taskbench::reports::render
