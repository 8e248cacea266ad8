// Files that are given several times, by whatever name.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace taskbench::cli {

/// The first two of the files that have the same bytes, in their order: one file by two names, or
/// a copy. What is no regular file is left out, since it can be read only once, as is what does not
/// exist. Throws std::filesystem::filesystem_error for what cannot be looked at.
[[nodiscard]] std::optional<std::pair<std::string, std::string>> first_equal_files(
    const std::vector<std::string>& paths);

}  // namespace taskbench::cli
