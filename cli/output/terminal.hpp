// What a stream is connected to, and what may be written there.
#pragma once

#include "cli/names.hpp"
#include "reports/render/render.hpp"

namespace taskbench::cli {

/// Columns of the terminal behind `descriptor`, else $COLUMNS, else `otherwise`.
[[nodiscard]] int columns(int descriptor, int otherwise);

/// A terminal that understands escape sequences: not TERM=dumb, and TERM is set.
[[nodiscard]] bool takes_escapes(int descriptor);

/// How tables suit what is behind the descriptor. What goes to a file or to another program keeps
/// one line a row, however long.
[[nodiscard]] render::TableStyle table_style(int descriptor);

}  // namespace taskbench::cli
