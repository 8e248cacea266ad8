// What the tables and comments of the verdicts have in common: of files, of pairs, and of
// baselines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/render/columns.hpp"
#include "reports/render/paired.hpp"
#include "reports/verdict/decision.hpp"

namespace taskbench::reports::render {

/// For aligned(): names and verdicts begin at the left, figures end at the right.
[[nodiscard]] std::vector<bool> columns_to_the_left(const Cells& titles);

/// The first two lines of a Markdown table with these titles, aligned in the same way.
[[nodiscard]] std::string markdown_titles(const Cells& titles);

/// A row of a Markdown table.
[[nodiscard]] std::string markdown_row(const Cells& cells);

/// The line in the verdict's colour.
[[nodiscard]] std::string coloured(verdict::Verdict verdict, std::string_view line);

/// "3.0 %"
[[nodiscard]] std::string percent(double part);

/// How a comment begins: the hidden line that CI finds it by, and the title.
[[nodiscard]] std::string comment_heading(const CommentStyle& style, std::string_view text);

}  // namespace taskbench::reports::render
