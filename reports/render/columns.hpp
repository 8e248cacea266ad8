// Text in columns: its width on a terminal, padding and wrapping.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "reports/render/numbers.hpp"

namespace taskbench::reports::render {

/// The text, or kNone if it is empty.
[[nodiscard]] std::string or_none(const std::string& text);

/// Columns that a terminal uses for UTF-8 text: none for combining marks, two for wide (East Asian)
/// characters and emoji, one for every other character and for a byte that is not UTF-8.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// Replaces with U+FFFD: bytes that are not UTF-8, control characters other than line breaks,
/// characters that change the direction of writing, and those that XML forbids. A name must not
/// control the terminal, reorder the text around it, or break a drawing.
[[nodiscard]] std::string printable(std::string_view text);

/// Replaces every `from` with `to`. Copies the text once: drawings have millions of bytes.
[[nodiscard]] std::string replaced(std::string_view text, std::string_view from,
                                   std::string_view to);

/// The first characters of the text, as many as fit into `width` columns.
[[nodiscard]] std::string_view beginning(std::string_view text, std::size_t width);

/// Shortens text to `width` columns, at least three: a longer one keeps its beginning and its end,
/// where names differ, with "…" between them.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t width);

/// Like printable(), with U+FFFD also for line breaks: for text that must stay in its cell.
[[nodiscard]] std::string one_line(std::string_view text);

/// Adds spaces before the text, so that it ends at column `width`; wider text stays as it is.
[[nodiscard]] std::string pad_left(std::string_view text, std::size_t width);

/// Adds spaces after the text.
[[nodiscard]] std::string pad_right(std::string_view text, std::size_t width);

/// Lines of at most `width` columns, broken at spaces; a longer word gets a line of its own. Line
/// breaks in the text are kept. Every line but the first starts with `indent`.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, std::size_t width,
                                            std::string_view indent = "");

}  // namespace taskbench::reports::render
