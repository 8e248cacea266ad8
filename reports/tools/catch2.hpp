// Results of Catch2's benchmarks, from its reporter "xml".
#pragma once

#include <filesystem>
#include <string_view>

#include "reports/model/run.hpp"

namespace taskbench::reports::tools {

/// Reads the benchmarks of a file of Catch2 2.9 or later. A benchmark is named by its test case,
/// the sections around it, and itself: "sorting/large/std::sort". One that is run again, as for
/// each value of a generator, is another: "sorting/large/std::sort/#2". The file does not contain
/// samples: a benchmark has one repetition, the mean of all. Catch2 reports no CPU time: it is 0.
/// Throws json::ReadError for other files. `path` is for the messages.
[[nodiscard]] model::Run parse_catch2(const std::filesystem::path& path, std::string_view text);

}  // namespace taskbench::reports::tools
