// The files that a command writes where its user asked for them.
#pragma once

#include <cstddef>

#include "cli/names.hpp"

namespace taskbench::cli {

/// Finds out, before anything is measured, whether the file, if one is named, could be written now
/// and the disk has room for so many bytes. Throws UsageError when not.
void refuse_unwritable(const std::optional<fs::path>& file, std::size_t expected_bytes);

/// Replaces the file, if one is named, whole or not at all. False, with the reason on standard
/// error, when that failed. With `notes`, says on standard error what was written.
[[nodiscard]] bool write_output(const std::optional<fs::path>& file, std::string_view content,
                                bool notes = false);

}  // namespace taskbench::cli
