// Compares two programs for ab and gate, from the options to files and exit code.
#pragma once

#include "cli/options/paired_options.hpp"
#include "cli/output/exit_code.hpp"
#include "reports/render/verdict_table.hpp"

namespace taskbench::cli {

/// Builds the revisions, resumes or begins the trial, runs it to its end, prints the result, and
/// writes the files that the plan names. Throws UsageError for requests that cannot be met.
[[nodiscard]] ExitCode compare_programs(PairedPlan plan, const Invocation& invocation,
                                        const render::CommentStyle& style);

}  // namespace taskbench::cli
