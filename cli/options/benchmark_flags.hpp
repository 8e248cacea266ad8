// The flags of Google Benchmark's programs, so that its tools, as compare.py, drive taskbench, too.
#pragma once

#include "cli/output/names.hpp"

namespace taskbench::cli {

/// `words`, the program's name first, with `run` and its options in place of --benchmark_... flags.
/// Unchanged where there are none, and where another command than `run` is named. Throws UsageError
/// for a flag that is unknown, or that cannot be done as asked.
[[nodiscard]] Strings without_benchmark_flags(Strings words);

}  // namespace taskbench::cli
