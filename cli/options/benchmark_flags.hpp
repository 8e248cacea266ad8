// The flags of Google Benchmark's programs, so that its tools, such as compare.py, can drive
// taskbench.
#pragma once

#include "cli/output/names.hpp"

namespace taskbench::cli {

/// `words`, the program's name first, with `run` and its options in place of --benchmark_... flags.
/// Unchanged if there are none, or if a command other than `run` is named. Throws UsageError for a
/// flag that is unknown, or that cannot be done as asked.
[[nodiscard]] Strings without_benchmark_flags(Strings words);

}  // namespace taskbench::cli
