#include "reports/render/document.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace taskbench::reports::render {

Document sentence(std::string text) { return {"", {Paragraph{std::move(text)}}, {}, {}}; }

std::vector<Column> named_figures(std::vector<std::string> titles) {
  std::vector<Column> columns;
  for (std::string& title : titles) columns.push_back({std::move(title), !columns.empty()});
  return columns;
}

Table columns_of(std::vector<std::string> titles) {
  Table table;
  for (std::string& title : titles) table.columns.push_back({std::move(title)});
  return table;
}

std::string legend(const Table& table, bool is_short, bool extras) {
  std::vector<std::string> meanings;
  bool counters_begun = false;
  for (const Column& column : table.columns) {
    if (column.unit == "/iter" && !std::exchange(counters_begun, true)) {
      meanings.emplace_back("/iter: per iteration");
    }
    if (column.meaning.empty() || (column.is_extra && !extras)) continue;
    const bool has_short = is_short && !column.short_title.empty();
    meanings.push_back(
        fmt::format("{}: {}", has_short ? column.short_title : column.title, column.meaning));
  }
  return meanings.empty() ? std::string() : fmt::format("{}.", fmt::join(meanings, "; "));
}

Table flat(Table table) {
  for (std::size_t i = table.columns.size(); i-- > 0;) {
    if (!table.columns[i].is_extra) continue;
    table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(i));
    for (Row& row : table.rows) row.cells.erase(row.cells.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (table.group_title.empty()) return table;
  table.columns.insert(table.columns.begin(), Column{std::exchange(table.group_title, {})});
  for (Row& row : table.rows) row.cells.insert(row.cells.begin(), Cell(std::move(row.group)));
  return table;
}

}  // namespace taskbench::reports::render
