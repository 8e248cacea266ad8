// Compares two programs as ab and gate do, from what was asked for to files and exit code.
#pragma once

#include "cli/exit_code.hpp"
#include "cli/names.hpp"
#include "cli/options/paired_options.hpp"
#include "reports/model/paired.hpp"
#include "reports/render/verdict_table.hpp"

namespace taskbench::cli {

struct PairedOutcome {
  enum class Kind {
    judged,     ///< `trial` has come to its end
    identical,  ///< nothing was measured: both programs are the same
    failed,     ///< `failure` says why there is no verdict
    interrupted,
  };
  Kind kind = Kind::interrupted;
  model::PairedTrial trial;  ///< its setup has at least both programs and `reproduce`
  model::PairedFailure failure;
  ExitCode failed_with = ExitCode::measured_program_failed;
};

/// Builds the revisions, resumes or begins the trial, and runs it to its end. Throws UsageError for
/// what cannot be done as asked.
[[nodiscard]] PairedOutcome compare_programs(const PairedPlan& plan, const std::stop_token& stop);

/// Prints what came of it, and writes the files that the plan names.
[[nodiscard]] ExitCode report(const PairedPlan& plan, const PairedOutcome& outcome,
                              const VerdictOptions& verdict, const render::CommentStyle& style);

}  // namespace taskbench::cli
