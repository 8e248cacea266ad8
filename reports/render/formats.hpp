// The formats in which every command can print its result.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "reports/render/document.hpp"
#include "reports/render/measures.hpp"

namespace taskbench::reports::render {

/// The result of a command.
struct Answer {
  Document document;
  /// The content of CSV; empty: the document's tables.
  std::optional<Table> records{};
  /// Replaces the document in Markdown.
  std::optional<Document> comment{};
  std::function<std::string()> json{};
  std::function<Measures()> measures{};  ///< for the formats of formats_of_measures() alone
};

struct Format {
  std::string_view name;
  std::string (*print)(const Answer& answer, const TableStyle& style);
  bool is_for_people = false;  ///< at a terminal, whose encoding may not be UTF-8
  bool has_reasons = true;     ///< has a place for the reason why an event was not counted
};

/// The formats of any result; the first is the default. A new format is a printer and one more row.
[[nodiscard]] std::span<const Format> formats();
/// Likewise, with the formats for results that have measures.
[[nodiscard]] std::span<const Format> formats_of_measures();

}  // namespace taskbench::reports::render
