// The options that ab, gate, baseline, calibrate and compare share: how their processes measure,
// when a verdict fails, and the destinations of results.
#pragma once

#include "cli/options/options.hpp"
#include "cli/options/run_plan.hpp"
#include "cli/output/exit_code.hpp"
#include "harness/trials/journaled_trial.hpp"
#include "reports/model/paired.hpp"
#include "reports/verdict/decision.hpp"

namespace taskbench::cli {

inline constexpr double kMaxBudget_s = model::kMostBudget_s;
inline constexpr int kMaxProcesses = 1000;  ///< fresh ones of one program

void declare_timeout(Options& options, double& timeout_s);

/// Declares --repetitions, --min-time, --timeout and --seed.
void declare_sampling(Options& options, model::Sampling& sampling, double& timeout_s);

/// Declares --kind, the kind of all programs that are measured.
void declare_kind(Options& options, std::string& kind);

/// Declares --judge, the metrics that are judged in addition to the times.
void declare_judged(Options& options, std::vector<model::JudgedMetric>& judged);

/// Declares --allow-busy, which permits `what` on a busy machine.
CLI::Option* declare_allow_busy(Options& options, bool& given, std::string_view what);

struct MeaningOfInconclusive {
  std::string_view name;
  ExitCode code;
};
inline constexpr MeaningOfInconclusive kMeanings[] = {
    {"inconclusive", ExitCode::inconclusive},
    {"pass", ExitCode::pass},
    {"pass-always", ExitCode::pass},
    {"fail", ExitCode::regression},
};

/// Whether an inconclusive comparison could have failed at all.
struct Sight {
  bool could_fail = true;  ///< some outcome would have been a FAIL
  Strings blind{};         ///< benchmarks too noisy for a verdict: see verdict::is_blind
};

/// --inconclusive, declared together with --delta and --alpha.
struct VerdictOptions {
  const MeaningOfInconclusive* inconclusive = kMeanings;

  void declare(Options& options, double& delta, double& alpha, const std::string& alpha_help);

  /// The exit code of a verdict, with --inconclusive applied. An inconclusive result that could not
  /// have failed with any data, or that is blind, passes only with `pass-always`, with a note.
  [[nodiscard]] ExitCode exit_code(verdict::Verdict overall, const Sight& sight) const;
};

/// --format, --json, --markdown and --quiet, declared together with --journal and --resume.
struct VerdictOutput {
  std::optional<fs::path> json;
  std::optional<fs::path> markdown;
  const render::Format* format = nullptr;
  bool quiet = false;

  /// Declares these options. The help on --resume and --json differs by command.
  void declare(Options& options, JournalPlan& plan, const std::string& resume_help,
               const std::string& json_help);

  /// Checks, before anything is built or measured, that the files, and a new journal, can be
  /// written now. Throws UsageError if not.
  void refuse_unwritable(const JournalPlan& plan) const;

  /// Removes the files of an earlier run at --json and --markdown: if this run fails before it
  /// writes them, a reader would mistake them for its result.
  void remove_stale() const;

  /// Writes the requested files. False, with the reason on standard error, if one could not be
  /// written; the other is still written.
  [[nodiscard]] bool write(std::string_view verdicts, const render::Document& comment) const;

  /// Writes the files, and prints the chosen format. False if either failed.
  [[nodiscard]] bool conclude(const render::Answer& answer) const;
};

/// Checks the name of a baseline. Throws UsageError for an invalid name.
[[nodiscard]] std::string baseline_name(std::string_view option, const Strings& given);

}  // namespace taskbench::cli
