#include "reports/render/verdict_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "reports/render/page.hpp"

namespace taskbench::reports::render {

using verdict::Verdict;

std::string table(const VerdictText& text, const TableStyle& style) {
  constexpr std::array<std::string_view, 3> kInks{"32", "1;31", kYellow};  // as in Verdict
  std::vector<Cells> cells{text.titles};
  for (const VerdictText::Row& row : text.rows) cells.push_back(row.cells);
  const std::vector<std::string> lines =
      fitted(cells, columns_to_the_left(text.titles), style.table_columns());
  Page page(style);
  page.line(lines.front());
  for (std::size_t i = 1; i < lines.size(); ++i) {
    page.line(page.inked(kInks[static_cast<std::size_t>(text.rows[i - 1].verdict)], lines[i]));
  }
  page.line();
  for (const std::string& each : text.remarks) page.paragraph(each, kPlain, "  ");
  if (!text.basis.empty()) page.paragraph(text.basis, kPlain, "  ");
  page.line(text.headline);
  return std::move(page).text();
}

std::string markdown_table(const VerdictText& text) {
  std::vector<Cells> rows;
  for (const VerdictText::Row& row : text.rows) rows.push_back(row.cells);
  return markdown_table(text.titles, columns_to_the_left(text.titles), rows);
}

Cells compared_cells(const Bar& row, double base_ns, double head_ns) {
  const TimeUnit unit = time_unit(std::min(base_ns, head_ns));
  Cells cells{row.name, time_text(base_ns, unit), time_text(head_ns, unit),
              percent_change(row.change), std::string(kNone)};
  if (row.low && row.high) {
    cells.back() = fmt::format("{} … {}", percent_change(*row.low), percent_change(*row.high));
  }
  return cells;
}

std::string verdict_cell(Verdict verdict, bool improved, std::string_view better) {
  return improved ? fmt::format("{}, {}", word(verdict), better) : std::string(word(verdict));
}

std::string headline_of(Verdict overall, std::size_t failed, std::size_t undecided, std::size_t all,
                        std::size_t faster, std::string_view failing) {
  std::string text = fmt::format("{}: ", word(overall));
  const std::string of_all = counted(all, "benchmark");
  if (failed > 0) {
    text += fmt::format("{} of {} slower{}", failed, of_all, failing);
  } else if (undecided > 0) {
    text += fmt::format("{} of {} undecided, none found slower", undecided, of_all);
  } else {
    text += fmt::format("none of {} slower", of_all);
  }
  return faster > 0 ? fmt::format("{}, {} faster", text, faster) : text;
}

std::vector<bool> columns_to_the_left(const Cells& titles) {
  std::vector<bool> left;
  for (const auto& title : titles) left.push_back(title == "benchmark" || title == "verdict");
  return left;
}

std::string bullets(const Sentences& remarks) {
  std::string text = remarks.empty() ? "" : "\n";
  for (const std::string& remark : remarks) text += fmt::format("- {}\n", markdown_escaped(remark));
  return text;
}

void add_shared(Sentences& sentences, const NamesAndReasons& reasons, std::string_view what) {
  InOrder<std::vector<std::string>> by_reason;
  for (const auto& [name, reason] : reasons) {
    if (!reason.empty()) by_reason[reason].push_back(name);
  }
  for (const auto& [reason, names] : by_reason) {
    add(sentences, "{}: {}{}.",
        names.size() == 1 ? names.front() : counted(names.size(), "benchmark"), what, reason);
  }
}

Sentences large_floors(const std::map<std::string, model::NoiseFloor>& floors, double delta) {
  Sentences lines;
  for (const auto& [name, floor] : floors) {
    if (floor.epsilon <= delta) continue;
    add(lines,
        "{}: its noise floor is {} ({}), so a smaller slowdown passes, although {} would matter.",
        name, percent(floor.epsilon), floor.source, percent(delta));
  }
  return lines;
}

VerdictText::Row instruction_row(const Cells& titles,
                                 const verdict::InstructionsVerdict& instructions) {
  Cells cells(titles.size(), std::string(kNone));
  cells[0] = "  its instructions";
  if (const auto& exact = instructions.exact) {
    cells[1] = with_separators(exact->base, 0);
    cells[2] = with_separators(exact->head, 0);
    cells[3] = fmt::format("{:+.2f} %", 100 * exact->change);
    cells[4] = exact->repeats ? "exact" : fmt::format("± {:.2f} %", 100 * exact->threshold);
  }
  const auto verdict = std::ranges::find(titles, "verdict") - titles.begin();
  cells[static_cast<std::size_t>(verdict)] =
      verdict_cell(instructions.verdict, instructions.improved(), "fewer");
  return {std::move(cells), instructions.verdict};
}

std::string instructions_remark() {
  return fmt::format(
      "Instructions are counted, not timed: more than {:g} % more fail, whatever the times say.",
      100 * verdict::kExactDelta);
}

std::string comment_heading(const CommentStyle& style, std::string_view text) {
  return fmt::format("{}{}### {}: {}\n\n", style.marked ? kCommentMarker : "",
                     style.marked ? "\n" : "", markdown_escaped(style.title), text);
}

std::string comment(const CommentStyle& style, const VerdictText& text, std::string_view compared,
                    double interval_level) {
  std::vector<Bar> rows;
  for (const VerdictText::Row& row : text.rows) {
    if (row.bar) rows.push_back(*row.bar);
  }
  return fmt::format("{}{}{}{}\n<details><summary>Figures</summary>\n\n{}\n{}\n\n</details>\n",
                     comment_heading(style, text.headline), compared,
                     fenced("text", bars(rows, interval_level)), bullets(text.remarks),
                     markdown_table(text), markdown_escaped(text.basis));
}

}  // namespace taskbench::reports::render
