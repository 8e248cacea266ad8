// Text in columns: how wide it is on a terminal, how to pad, wrap and distribute it.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reports/render/numbers.hpp"

namespace taskbench::reports::render {

/// The cells of a row.
using Cells = std::vector<std::string>;

/// The text, or kNone if it is empty.
[[nodiscard]] std::string or_none(const std::string& text);

/// Columns that a terminal uses for UTF-8 text: none for combining marks, two for wide (East Asian)
/// characters and emoji, one for every other character and for a byte that is not UTF-8.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// Replaces by U+FFFD bytes that are not UTF-8, control characters other than line breaks,
/// characters that change the direction of writing, and those that XML forbids: a name must not
/// control the terminal, reorder the text around it, or break a drawing.
[[nodiscard]] std::string printable(std::string_view text);

/// Replaces every `from` by `to`. Copies the text once: drawings have millions of bytes.
[[nodiscard]] std::string replaced(std::string_view text, std::string_view from,
                                   std::string_view to);

/// Shortens text to `width` columns, at least three: of a longer one the beginning and the end
/// remain, where names differ, with "…" between them.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t width);

/// Like printable(), with U+FFFD for line breaks, too: for text that must stay in its cell.
[[nodiscard]] std::string one_line(std::string_view text);

/// Adds spaces before the text, so that it ends at column `width`; wider text stays as it is.
[[nodiscard]] std::string pad_left(std::string_view text, std::size_t width);

/// Adds spaces after the text.
[[nodiscard]] std::string pad_right(std::string_view text, std::size_t width);

/// Lines of at most `width` columns, broken at spaces; a longer word gets a line of its own. Line
/// breaks in the text are kept. Every line but the first starts with `indent`.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, std::size_t width,
                                            std::string_view indent = "");

/// Lays out a table for `width` columns and returns the text of each row, without blanks at line
/// ends. Every column is as wide as its widest cell, with two spaces between columns. If the rows
/// do not fit into one line, cells that are aligned left are wrapped at words; if that is not
/// enough, the first cell of each row gets a line of its own, with the others below it, in as many
/// lines as they need. Cells are made printable. `to_the_left[i]` says how column i is aligned; all
/// rows have equally many cells.
[[nodiscard]] std::vector<std::string> fitted(
    std::span<const Cells> rows, const std::vector<bool>& to_the_left,
    std::size_t width = std::numeric_limits<std::size_t>::max());

/// The alignment of a table whose first column names the rows, and whose others are figures.
[[nodiscard]] std::vector<bool> names_to_the_left(const Cells& titles);

/// The width of the widest cell of each column.
[[nodiscard]] std::vector<std::size_t> column_widths(std::span<const Cells> rows);

/// A table in Markdown.
[[nodiscard]] std::string markdown_table(const Cells& titles, const std::vector<bool>& to_the_left,
                                         std::span<const Cells> rows);

/// Escapes text for a cell or a line of Markdown: what would end it, start a tag or change its
/// meaning, control characters included. Underscores within words mean nothing in GitHub's
/// Markdown, and names are full of them.
[[nodiscard]] std::string markdown_escaped(std::string_view text);

/// A block of Markdown with this text, whatever backticks it has, and a line break at its end.
[[nodiscard]] std::string fenced(std::string_view language, std::string_view content);

/// A line of CSV according to RFC 4180, section 2: a field with a quote, a comma or a line break is
/// quoted, and quotes in it are doubled. Ends with LF.
[[nodiscard]] std::string csv_line(std::span<const std::string> fields);

/// The shortest text that reads back as the same number; empty if there is none, or if it is not
/// finite.
[[nodiscard]] std::string csv_number(std::optional<double> value);

/// Distributes columns over blocks of lines, in order. A block has room for `width` columns of
/// text, of which `label_width` are for the label at the start of each line; `gap` precedes each
/// column. `groups` are the sizes of runs of columns that belong together: a group that fits into
/// one block is not split. Returns the number of columns of each block.
[[nodiscard]] std::vector<std::size_t> distribute(std::span<const std::size_t> column_widths,
                                                  std::span<const std::size_t> groups,
                                                  std::size_t label_width, std::size_t gap,
                                                  std::size_t width);

}  // namespace taskbench::reports::render
