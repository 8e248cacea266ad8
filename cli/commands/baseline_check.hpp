// Compares a program with its stored baseline, from the options to files and exit code: the common
// part of `taskbench baseline compare` and `taskbench gate`.
#pragma once

#include "cli/options/trial_options.hpp"
#include "cli/output/exit_code.hpp"
#include "harness/trials/baseline_trial.hpp"
#include "reports/render/verdict_table.hpp"

namespace taskbench::cli {

struct BaselineCheck : ComparePlan {
  VerdictOptions verdict;
  VerdictOutput output;
  /// For CI: an existing journal is replaced, and a missing one that should be resumed is started.
  /// The files are also written for a failure.
  bool is_gate = false;
  render::CommentStyle comment{.title = "taskbench baseline", .marked = false};
};

/// Measures and judges, or judges the journal's content again; refuses options that contradict the
/// journal. Prints the table, writes the files. Throws UsageError for errors of usage; reports all
/// other failures on standard error and as the exit code: wrong_machine for a moved canary, and if
/// all baselines are of other machines or builds; measured_program_failed; interrupted.
[[nodiscard]] ExitCode check_baseline(BaselineCheck check, const Invocation& invocation);

}  // namespace taskbench::cli
