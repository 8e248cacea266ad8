// Reads what paired_writer.hpp writes.
#pragma once

#include <filesystem>
#include <string_view>

#include "reports/verdict/paired_file.hpp"

namespace taskbench::reports::json {

/// Whether the text is meant to be the report of a comparison of two programs, whole or not.
[[nodiscard]] bool is_paired_report(std::string_view text);

/// Throws ReadError (reader.hpp) for what is no such report, or one of another version. `path` is
/// for the messages.
[[nodiscard]] verdict::PairedFile parse_paired_report(const std::filesystem::path& path,
                                                      std::string_view text);

}  // namespace taskbench::reports::json
