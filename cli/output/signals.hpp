// Handles ^C, SIGTERM and a closed terminal (SIGHUP): the first requests a stop; a second ^C or
// SIGTERM ends the process at once.
#pragma once

#include "cli/output/names.hpp"

namespace taskbench::cli {

/// After this call the first SIGINT, SIGTERM or SIGHUP requests the returned stop; the next SIGINT
/// or SIGTERM kills the process in the usual way. A signal that the parent process ignores (nohup,
/// a background job of a script) stays ignored, except for SIGCHLD, without which no child's end is
/// known. Call once, from the main thread, before starting others.
[[nodiscard]] std::stop_token stop_on_signals();

}  // namespace taskbench::cli
