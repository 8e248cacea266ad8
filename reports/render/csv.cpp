#include <fmt/format.h>

#include <cmath>
#include <string>
#include <variant>

#include "reports/render/columns.hpp"
#include "reports/render/document.hpp"
#include "reports/render/numbers.hpp"

namespace taskbench::reports::render {
namespace {

/// Quotes a field that has a quote, a comma or a line break, and doubles its quotes.
std::string in_quotes(std::string_view text) {
  if (text.find_first_of("\",\r\n") == text.npos) return std::string(text);
  return fmt::format("\"{}\"", replaced(text, "\"", "\"\""));
}

/// The shortest text that reads back as the same number; a number that is not finite is unknown.
std::string field_of(const Cell& cell) {
  if (cell.number) return std::isfinite(*cell.number) ? fmt::format("{}", *cell.number) : "";
  return cell.text == kNone ? std::string() : in_quotes(cell.text);
}

void add_line(const auto& fields, const auto& text_of, std::string& text) {
  for (const auto& each : fields) text += text_of(each) + ',';
  text.back() = '\n';
}

void add_tables(const Section& section, std::string& text) {
  for (const Block& block : section.blocks) {
    const auto* table = std::get_if<Table>(&block);
    if (table != nullptr) text += (text.empty() ? "" : "\n") + csv(*table);
  }
  for (const Section& part : section.parts) add_tables(part, text);
}

}  // namespace

std::string csv(const Table& table) {
  const Table all = flat(table);
  std::string text;
  const auto title = [](const Column& column) {
    return in_quotes(column.unit.empty() ? column.title
                                         : fmt::format("{} {}", column.title, column.unit));
  };
  add_line(all.columns, title, text);
  for (const Row& row : all.rows) {
    add_line(
        row.cells, [](const Cell& cell) { return field_of(cell); }, text);
  }
  return text;
}

std::string csv(const Document& document) {
  std::string text;
  for (const Section& section : document.sections) add_tables(section, text);
  return text;
}

}  // namespace taskbench::reports::render
