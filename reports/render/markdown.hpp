// Pieces of Markdown, for texts that are no documents.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

#include "reports/render/document.hpp"

namespace taskbench::reports::render {

[[nodiscard]] std::string markdown_table(
    const Table& table, std::size_t most_rows = std::numeric_limits<std::size_t>::max());

/// Escapes text for a cell or a line of Markdown: what would end it, start a tag or change its
/// meaning, control characters included. Underscores within words mean nothing in GitHub's
/// Markdown, and names are full of them.
[[nodiscard]] std::string markdown_escaped(std::string_view text);

/// A block of Markdown with this text, whatever backticks it has, and a line break at its end.
[[nodiscard]] std::string fenced(std::string_view language, std::string_view content);

}  // namespace taskbench::reports::render
