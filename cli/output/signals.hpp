// ^C, SIGTERM and a terminal that is closed (SIGHUP): ask once to stop; the second ^C or SIGTERM
// ends the process at once.
#pragma once

#include "cli/output/names.hpp"

namespace taskbench::cli {

/// From this call on the first SIGINT, SIGTERM or SIGHUP requests the returned stop; the next
/// SIGINT or SIGTERM kills the process in the usual way. A signal that the parent had set to be
/// ignored (nohup, a background job of a script) stays ignored. Call once, from the main thread,
/// before others start.
[[nodiscard]] std::stop_token stop_on_signals();

}  // namespace taskbench::cli
