// The formats in which every command can print its answer.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "reports/render/document.hpp"

namespace taskbench::reports::render {

/// What a command answers.
struct Answer {
  Document document;
  /// What CSV holds; empty: the document's tables.
  std::optional<Table> records{};
  /// What takes the document's place in Markdown.
  std::optional<Document> comment{};
  std::function<std::string()> json{};
};

struct Format {
  std::string_view name;
  std::string (*print)(const Answer& answer, const TableStyle& style);
  bool is_for_people = false;  ///< at a terminal, which may have another encoding than UTF-8
};

/// All of them; the first is the default. A new format is a printer and one more row.
[[nodiscard]] std::span<const Format> formats();

/// A document of one paragraph.
[[nodiscard]] Document sentence(std::string text);

}  // namespace taskbench::reports::render
