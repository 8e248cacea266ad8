#include "reports/render/verdict_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "reports/render/columns.hpp"
#include "reports/render/figures.hpp"

namespace taskbench::reports::render {
namespace {

using verdict::Verdict;

bool is_to_the_left(std::string_view title) { return title == "benchmark" || title == "verdict"; }

std::string_view colour_code(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass:
      return "32";
    case Verdict::fail:
      return "1;31";
    case Verdict::inconclusive:
      break;
  }
  return "33";
}

std::string coloured(Verdict verdict, std::string_view line) {
  return fmt::format("\x1b[{}m{}\x1b[0m", colour_code(verdict), line);
}

/// In per cent, and 0 where it is shown as such: there is no "-0.0 %".
double rounded(double part) {
  const double percent = 100 * part;
  return std::abs(percent) < 0.05 ? 0 : percent;
}

}  // namespace

std::string table(const VerdictText& text, const TableStyle& style) {
  std::vector<Cells> cells{text.titles};
  for (const VerdictText::Row& row : text.rows) cells.push_back(row.cells);
  const std::vector<std::string> lines =
      fitted(cells, columns_to_the_left(text.titles), style.table_columns());
  std::string result = lines.front() + '\n';
  for (std::size_t i = 1; i < lines.size(); ++i) {
    result += (style.colour ? coloured(text.rows[i - 1].verdict, lines[i]) : lines[i]) + '\n';
  }
  std::vector<std::string> sentences = text.remarks;
  if (!text.basis.empty()) sentences.push_back(text.basis);
  return result + '\n' + paragraphs(sentences, style.columns()) + text.headline + '\n';
}

std::string bullets(const std::vector<std::string>& remarks) {
  std::string text;
  for (const std::string& remark : remarks) text += fmt::format("- {}\n", markdown_escaped(remark));
  return text;
}

std::string markdown_table(const VerdictText& text) {
  std::vector<Cells> rows;
  for (const VerdictText::Row& row : text.rows) rows.push_back(row.cells);
  return markdown_table(text.titles, columns_to_the_left(text.titles), rows);
}

Cells compared_cells(std::string name, double base_ns, double head_ns, double change,
                     std::optional<double> low, std::optional<double> high) {
  const TimeUnit unit = time_unit(std::min(base_ns, head_ns));
  return {std::move(name), time_text(base_ns, unit), time_text(head_ns, unit),
          percent_change(change),
          low && high ? fmt::format("{} … {}", percent_change(*low), percent_change(*high))
                      : std::string(kNone)};
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

std::string folded_figures(const VerdictText& text) {
  return "\n<details><summary>Figures</summary>\n\n" + markdown_table(text) +
         fmt::format("\n{}\n\n</details>\n", markdown_escaped(text.basis));
}

std::string percent_change(double change) { return fmt::format("{:+.1f} %", rounded(change)); }

std::vector<bool> columns_to_the_left(const Cells& titles) {
  std::vector<bool> left;
  for (const std::string& title : titles) left.push_back(is_to_the_left(title));
  return left;
}

std::string percent(double part) { return fmt::format("{:.1f} %", rounded(part)); }

std::string counted(std::size_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : noun.ends_with("s") ? "es" : "s");
}

std::string interval_title(double level) {
  return fmt::format("{:g} % interval", std::round(1000 * level) / 10);
}

std::vector<SharedReason> shared_reasons(
    std::span<const std::pair<std::string_view, std::string_view>> names_and_reasons) {
  std::vector<SharedReason> shared;
  std::unordered_map<std::string_view, std::size_t> places;
  for (const auto& [name, reason] : names_and_reasons) {
    if (reason.empty()) continue;
    const auto [place, is_new] = places.emplace(reason, shared.size());
    if (is_new) shared.push_back({name, reason, 0});
    ++shared[place->second].count;
  }
  return shared;
}

std::vector<std::string> undecided_remarks(
    const std::vector<std::pair<std::string, std::string>>& names_and_reasons) {
  const std::vector<std::pair<std::string_view, std::string_view>> views(names_and_reasons.begin(),
                                                                         names_and_reasons.end());
  std::vector<std::string> lines;
  for (const auto& [name, reason, count] : shared_reasons(views)) {
    lines.push_back(count == 1 ? fmt::format("{}: undecided; {}.", name, reason)
                               : fmt::format("{} benchmarks: undecided; {}.", count, reason));
  }
  return lines;
}

std::string comment_heading(const CommentStyle& style, std::string_view text) {
  return fmt::format("{}### {}: {}\n\n",
                     style.marked ? fmt::format("{}\n", kCommentMarker) : std::string(),
                     markdown_escaped(style.title), text);
}

std::vector<std::string> large_floors(const std::map<std::string, model::NoiseFloor>& floors,
                                      double delta) {
  std::vector<std::string> lines;
  for (const auto& [name, floor] : floors) {
    if (floor.epsilon <= delta) continue;
    lines.push_back(fmt::format(
        "{}: its noise floor is {} ({}): a slowdown of less passes, although {} matter.", name,
        percent(floor.epsilon), floor.source, percent(delta)));
  }
  return lines;
}

InstructionCells instruction_cells(const verdict::InstructionsVerdict& instructions) {
  const std::string none(kNone);
  InstructionCells cells{
      "  its instructions", none, none, none, none, std::string(word(instructions.verdict))};
  if (!instructions.exact) return cells;
  const verdict::ExactChange& exact = *instructions.exact;
  cells.base = with_separators(exact.base, 0);
  cells.head = with_separators(exact.head, 0);
  cells.change = fmt::format("{:+.2f} %", 100 * exact.change);
  cells.spread = exact.repeats ? "exact" : fmt::format("± {:.2f} %", 100 * exact.threshold);
  if (instructions.improved()) cells.verdict += ", fewer";
  return cells;
}

std::string instructions_remark() {
  return fmt::format(
      "Instructions are counted, not timed: more than {:g} % more fail, whatever the times say.",
      100 * verdict::kExactDelta);
}

std::string not_known_remark(const SharedReason& shared) {
  return shared.count == 1
             ? fmt::format("{}: its instructions are not known {}.", shared.name, shared.reason)
             : fmt::format("{} benchmarks: their instructions are not known {}.", shared.count,
                           shared.reason);
}

}  // namespace taskbench::reports::render
