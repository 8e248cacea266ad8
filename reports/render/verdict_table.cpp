#include "reports/render/verdict_table.hpp"

#include <fmt/format.h>

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

}  // namespace

std::vector<bool> columns_to_the_left(const Cells& titles) {
  std::vector<bool> left;
  for (const std::string& title : titles) left.push_back(is_to_the_left(title));
  return left;
}

std::string markdown_titles(const Cells& titles) {
  std::string text;
  for (const std::string& title : titles) text += fmt::format("| {} ", title);
  text += "|\n";
  for (const std::string& title : titles) text += is_to_the_left(title) ? "|:--" : "|--:";
  return text + "|\n";
}

std::string markdown_row(const Cells& cells) {
  std::string text;
  for (const std::string& cell : cells) text += fmt::format("| {} ", markdown_escaped(cell));
  return text + "|\n";
}

std::string coloured(Verdict verdict, std::string_view line) {
  return fmt::format("\x1b[{}m{}\x1b[0m", colour_code(verdict), line);
}

std::string percent(double part) { return fmt::format("{:.1f} %", 100 * part); }

std::string comment_heading(const CommentStyle& style, std::string_view text) {
  return fmt::format("{}### {}: {}\n\n",
                     style.marked ? fmt::format("{}\n", kCommentMarker) : std::string(),
                     markdown_escaped(style.title), text);
}

}  // namespace taskbench::reports::render
