// Result files named by the user.
#pragma once

#include "cli/output/names.hpp"

namespace taskbench::cli {

/// Throws UsageError, whose message begins with `prefix`, if two of the files have the same bytes:
/// one result would count twice. Skips files that can be read only once or do not exist.
void refuse_equal_results(std::string_view prefix, const Strings& paths);

}  // namespace taskbench::cli
