// Compares a program with its stored baseline, from what was asked for to files and exit code:
// what `taskbench baseline compare` and `taskbench gate` have in common.
#pragma once

#include "cli/options/trial_options.hpp"
#include "cli/output/exit_code.hpp"
#include "harness/trials/baseline_store.hpp"
#include "reports/render/verdict_table.hpp"

namespace taskbench::cli {

inline constexpr int kDefaultFreshProcesses = 7;
inline constexpr int kMaxProcesses = 1000;

struct BaselineCheck {
  std::string name{kDefaultBaseline};
  fs::path store{kDefaultStore};
  std::string program;           ///< empty: that of the baseline
  std::optional<int> processes;  ///< empty: kDefaultFreshProcesses, or those of the journal
  double timeout_s = kDefaultProcessTimeout_s;
  bool allow_busy = false;  ///< judge even if others use the CPUs
  double alpha = 0.01;
  double delta = 0.03;
  VerdictOptions verdict;
  VerdictOutput output;
  /// For CI: a journal that is there is started afresh, and one to resume that is missing, too. And
  /// the files are written for a failure as well.
  bool is_gate = false;
  render::CommentStyle comment{.title = "taskbench baseline", .marked = false};
};

/// Measures and judges, or judges again what the journal holds; what of the check contradicts the
/// journal is refused. Prints the table, writes the files. All failures but those of usage, which
/// throw UsageError, are told on standard error and are the exit code: wrong_machine for a baseline
/// of other machines or builds only, and for a canary that moved; measured_program_failed;
/// interrupted.
[[nodiscard]] ExitCode check_baseline(const BaselineCheck& check, const Invocation& invocation);

}  // namespace taskbench::cli
