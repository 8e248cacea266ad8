// Results of any tool, recognised by the form of their text.
#pragma once

#include <filesystem>
#include <string_view>

#include "reports/model/run.hpp"

namespace taskbench::reports::tools {

/// Reads a result of taskbench or Google Benchmark, or of one of the tools that this folder
/// supports: Catch2's XML; the JSON of hyperfine, JMH, pyperf and pytest-benchmark; the output of
/// benchmarks of Go and of Rust's libtest. Throws json::ReadError for anything else, and for a
/// benchmark that cannot be used. `path` is for the messages.
[[nodiscard]] model::Run parse_result(const std::filesystem::path& path, std::string_view text);

/// Returns `run`. Throws json::ReadError if it has no benchmark, or one that cannot be used.
[[nodiscard]] model::Run usable(const std::filesystem::path& path, model::Run run);

}  // namespace taskbench::reports::tools
