// What a stream is connected to, and what may be written there.
#pragma once

#include "reports/render/render.hpp"

namespace taskbench::cli {

[[nodiscard]] bool is_terminal(int descriptor);

/// Columns of the terminal behind `descriptor`, else $COLUMNS, else `otherwise`.
[[nodiscard]] int columns(int descriptor, int otherwise);

/// A terminal that understands escape sequences: not TERM=dumb, and TERM is set.
[[nodiscard]] bool takes_escapes(int descriptor);

/// takes_escapes(), and the user has not asked for plain text by NO_COLOR (https://no-color.org).
[[nodiscard]] bool takes_colour(int descriptor);

/// A terminal that shows more than ASCII, by the locale of whoever started this process.
[[nodiscard]] bool takes_utf8(int descriptor);

/// How tables suit what is behind the descriptor. What goes to a file or to another program keeps
/// one line a row, however long.
[[nodiscard]] reports::render::TableStyle table_style(int descriptor);

}  // namespace taskbench::cli
