// Result files that the user names.
#pragma once

#include "cli/output/names.hpp"

namespace taskbench::cli {

/// Throws UsageError, whose message begins with `prefix`, if two of the files hold the same bytes:
/// one result would count twice. Files that can be read only once, or do not exist, are skipped.
void refuse_equal_results(std::string_view prefix, const Strings& paths);

}  // namespace taskbench::cli
