// How reports of verdicts are laid out: the table on a terminal, and the comment on a pull request.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/paired.hpp"
#include "reports/render/bars.hpp"
#include "reports/render/columns.hpp"
#include "reports/render/numbers.hpp"
#include "reports/render/render.hpp"
#include "reports/render/verdict_text.hpp"
#include "reports/verdict/counter_move.hpp"
#include "reports/verdict/decision.hpp"
#include "reports/verdict/exact.hpp"

namespace taskbench::reports::render {

/// On a terminal: the table, below each row that fails why it does, then what is undecided and the
/// remarks, and the headline last, where it is still seen.
[[nodiscard]] std::string table(const VerdictText& text, const TableStyle& style);

/// How each row begins: its name, its verdict, both times, the change, and its interval.
[[nodiscard]] Cells compared_cells(const Bar& row, double base_ns, double head_ns);

/// The titles of these cells.
[[nodiscard]] Cells compared_titles(std::string_view base, std::string_view head,
                                    double interval_level);

/// "4.100 → 4.600 ms"
[[nodiscard]] std::string levels_text(double base_ns, double head_ns);

/// "PASS, faster"
[[nodiscard]] std::string verdict_cell(verdict::Verdict verdict, bool improved,
                                       std::string_view better = "faster");

/// Names and verdicts begin at the left, figures end at the right.
[[nodiscard]] std::vector<bool> columns_to_the_left(const Cells& titles);

/// In Markdown: the remarks as a list, after an empty line.
[[nodiscard]] std::string bullets(const Sentences& remarks);

/// A sentence for the benchmarks whose noise floor is more than what matters: it decides in its
/// place.
[[nodiscard]] Sentences large_floors(const std::map<std::string, model::NoiseFloor>& floors,
                                     double delta);

/// The row below that of the times. What is not known is a dash.
[[nodiscard]] VerdictText::Row instruction_row(const Cells& titles,
                                               const verdict::InstructionsVerdict& instructions);

/// Makes the instructions the metric of a benchmark that would pass by its times and does not by
/// them, and adds their row.
void add_instructions(const verdict::InstructionsVerdict& instructions, const Cells& titles,
                      VerdictText::Benchmark& benchmark);

/// "5.00 % more instructions, 1,000 → 1,050 per iteration"; empty where they are about the same.
[[nodiscard]] std::string instructions_text(const verdict::InstructionsVerdict& instructions);

/// "per iteration steals 3.00 → 9.00"; empty where none moved.
[[nodiscard]] std::string moved_counters(const std::vector<verdict::CounterMove>& moves);

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

/// A blank line before it, unless it is empty.
[[nodiscard]] std::string apart(std::string text);

/// What a reader need not see at once.
[[nodiscard]] std::string folded(std::string_view summary, std::string_view content);

/// The part of a comment below its heading: at most 36 lines that are not folded, however many
/// benchmarks there are. `compared` says what was, in Markdown; `method` stands below the basis.
[[nodiscard]] std::string comment_body(const VerdictText& text, std::string_view compared,
                                       std::string_view method = "");

}  // namespace taskbench::reports::render
