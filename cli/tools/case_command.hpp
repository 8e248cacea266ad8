// The command that runs one case once more, in a process of its own.
#pragma once

#include "cli/names.hpp"
#include "cli/options/run_plan.hpp"

namespace taskbench::cli {

/// This taskbench with one repetition of the case, as the plan says; `min_time_s` for it and its
/// warm-up. The result goes to the file `result`.
[[nodiscard]] Strings case_command(const RunPlan& plan, const measure::Case& spec,
                                   double min_time_s, const fs::path& result);

}  // namespace taskbench::cli
