// ^C, SIGTERM and a terminal that is closed (SIGHUP): ask once to stop; the second ^C or SIGTERM
// ends the process at once.
#pragma once

#include "cli/output/names.hpp"

namespace taskbench::cli {

/// From here on the first SIGINT, SIGTERM or SIGHUP requests the stop that is returned; the next
/// one of either kills the process in the usual way. A signal that the parent had set to be ignored
/// (nohup, a background job of a script) stays ignored. Call once, from the main thread, before
/// others start.
[[nodiscard]] std::stop_token stop_on_signals();

/// For a command that only reads, and so has nothing to put in order: from here on these signals
/// end the process at once with the status of what was interrupted, even while it waits for a file.
/// A line of progress is taken off the terminal. Ignored signals stay ignored, as above.
void exit_on_signals();

}  // namespace taskbench::cli
