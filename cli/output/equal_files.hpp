// Files that are given several times, by whatever name.
#pragma once

#include "cli/names.hpp"

namespace taskbench::cli {

/// The first two of the files that have the same bytes, in their order: one file by two names, or
/// a copy. What is no regular file is left out, since it can be read only once, as is what does not
/// exist. Throws fs::filesystem_error for what cannot be looked at.
[[nodiscard]] std::optional<std::pair<std::string, std::string>> first_equal_files(
    const Strings& paths);

}  // namespace taskbench::cli
