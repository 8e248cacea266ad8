// The flags of Google Benchmark's programs, so that its tools, such as compare.py, can drive
// taskbench.
#pragma once

#include "cli/output/names.hpp"

namespace taskbench::cli {

/// `words`, beginning with the program's name, with --benchmark_... flags replaced by `run` and its
/// options. Unchanged if there are none, or if a command other than `run` is named. Throws
/// UsageError for a flag that is unknown or has no equivalent.
[[nodiscard]] Strings without_benchmark_flags(Strings words);

}  // namespace taskbench::cli
