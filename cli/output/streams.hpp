// Standard output carries results, standard error everything else.
#pragma once

#include "cli/names.hpp"

namespace taskbench::cli {

/// Writes to standard output and flushes. False, with the reason on standard error, when that
/// failed: a full disk behind a redirection must not look like success.
[[nodiscard]] bool print_result(std::string_view text);

/// "taskbench: error: …" on standard error.
void print_error(std::string_view message);

/// "taskbench: note: …" on standard error.
void print_note(std::string_view message);

}  // namespace taskbench::cli
