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

/// Of a row.
using Cells = std::vector<std::string>;

/// The text, or kNone in place of none.
[[nodiscard]] std::string or_none(const std::string& text);

/// Columns that a terminal uses for UTF-8 text: none for combining marks, two for wide (East Asian)
/// characters and emoji, one for every other character and for a byte that is not UTF-8.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// The text with U+FFFD for bytes that are not UTF-8, for control characters other than line
/// breaks, for those that turn the direction of writing, and for those that XML forbids: a name
/// must not steer the terminal, reorder what stands around it, or break a drawing.
[[nodiscard]] std::string printable(std::string_view text);

/// With each `from` made a `to`. Copies the text once: drawings have millions of bytes.
[[nodiscard]] std::string replaced(std::string_view text, std::string_view from,
                                   std::string_view to);

/// Text of at most `width` columns, at least three: of a longer one the beginning and the end,
/// which is where names differ, with "…" between them.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t width);

/// The same with U+FFFD for line breaks, too: for what must stay in its cell.
[[nodiscard]] std::string one_line(std::string_view text);

/// Spaces added before, so that text ends at column `width`; text that is wider stays as it is.
[[nodiscard]] std::string pad_left(std::string_view text, std::size_t width);

/// Spaces added after.
[[nodiscard]] std::string pad_right(std::string_view text, std::size_t width);

/// Lines of at most `width` columns, broken at spaces; a longer word gets a line of its own. Line
/// breaks in the text are kept. Every line but the first starts with `indent`.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, std::size_t width,
                                            std::string_view indent = "");

/// The lines of a table for `width` columns, a text for each row, without blanks at line ends:
/// every column as wide as its widest cell, two spaces between columns, one line where the table
/// fits. Else cells that stand on the left are wrapped at words, where that makes it fit; else the
/// first cell of each row gets a line of its own, and the others stand below it, in as many lines
/// as they take. Cells are made printable. `to_the_left[i]` says on which side column i is aligned;
/// all rows have as many cells.
[[nodiscard]] std::vector<std::string> fitted(
    std::span<const Cells> rows, const std::vector<bool>& to_the_left,
    std::size_t width = std::numeric_limits<std::size_t>::max());

/// For a table whose first column names the rows, and whose others are figures.
[[nodiscard]] std::vector<bool> names_to_the_left(const Cells& titles);

/// Of each column: the widest cell.
[[nodiscard]] std::vector<std::size_t> column_widths(std::span<const Cells> rows);

/// The same table in Markdown.
[[nodiscard]] std::string markdown_table(const Cells& titles, const std::vector<bool>& to_the_left,
                                         std::span<const Cells> rows);

/// Text for a cell or a line of Markdown: what would end it, start a tag or change its meaning is
/// made harmless, control characters among it. Underscores within words mean nothing in GitHub's
/// Markdown, and names are full of them.
[[nodiscard]] std::string markdown_escaped(std::string_view text);

/// Text in a block of Markdown of its own, whatever backticks it has, with a line break at its end.
[[nodiscard]] std::string fenced(std::string_view language, std::string_view content);

/// A line of CSV as RFC 4180, section 2, says: a field with a quote, a comma or a line break stands
/// in quotes, and quotes in it are doubled. Ends with LF.
[[nodiscard]] std::string csv_line(std::span<const std::string> fields);

/// The shortest text that reads back as the same number; empty for none, and for one that is not
/// finite.
[[nodiscard]] std::string csv_number(std::optional<double> value);

/// Distributes columns over blocks of lines, in order: each block has room for `width` columns of
/// text, of which `label_width` are for the label that starts every line of every block; `gap`
/// stands before each column. `groups` are the sizes of runs of columns that belong together: a
/// group that fits into a block of its own is not split. Returns the number of columns a block.
[[nodiscard]] std::vector<std::size_t> distribute(std::span<const std::size_t> column_widths,
                                                  std::span<const std::size_t> groups,
                                                  std::size_t label_width, std::size_t gap,
                                                  std::size_t width);

}  // namespace taskbench::reports::render
