// Compares two programs, or two revisions, for ab and gate: builds the revisions, runs the paired
// trial, and reports if there is nothing to measure or to judge.
#pragma once

#include "harness/files/baseline_store.hpp"
#include "harness/programs/revision.hpp"
#include "harness/trials/journaled_trial.hpp"
#include "harness/trials/paired_trial.hpp"

namespace taskbench::harness {

/// One of the two programs: a command, or a revision to build.
struct ProgramSource {
  std::string command;
  std::string revision;
  fs::path root;  ///< of all files that may differ from the other side's; empty: not known

  [[nodiscard]] bool given() const { return !command.empty() || !revision.empty(); }
};

/// Which part of a trial is measured: number I of N.
struct PartOf {
  int number = 0;
  int of = 0;
};

/// The options of a comparison.
struct ComparisonPlan {
  ProgramSource base;
  ProgramSource head;
  BuildRecipe recipe{
      .build = std::string(kDefaultBuild), .program = std::string(kDefaultProgram), .cache = {}};
  model::PairedSetup setup;  ///< without what explore() fills in
  Strings workloads;         ///< as given
  Strings documentation;     ///< patterns
  Strings outputs;           ///< further files, besides the executables, that must be equal
  fs::path cwd;              ///< working folder, from a checkout's root; empty: there, or here
  fs::path store{kDefaultStore};
  bool run_identical = false;
  bool explain = false;                 ///< count by function after a failure
  std::vector<model::Side> build_only;  ///< build these sides, measure nothing
  fs::path out;                         ///< where both programs are then put; empty: nowhere
  fs::path programs;                    ///< where both programs were put; empty: nowhere
  std::optional<PartOf> part;           ///< measure this part of the trial, without a verdict
  /// For CI: a comment on a pull request should also report a mistake in the options, a failing
  /// benchmark, and whether head is sound although base is not.
  bool is_gate = false;
  JournalPlan journal;
  /// The options, besides --base and --head, that repeat this measurement elsewhere.
  std::string repeating_options;
  bool program_is_given = false;  ///< that of the recipe
  bool budget_is_given = false;   ///< otherwise a resumed trial keeps its own
  bool timeout_is_given = false;
  bool acknowledged_is_given = false;
  /// Throws UsageError for options that contradict the ones that a trial was started with.
  std::function<void(const model::PairedSetup& then)> refuse_other_options;
  /// A note on what the budget cannot decide, as soon as the duration of a block is known.
  std::function<std::string(const model::PairedTrial& trial, double budget_s)> prediction;
};

/// There is nothing to judge.
struct NotComparable : ProgramError {
  explicit NotComparable(model::PairedFailure why, bool names_no_benchmark = false,
                         bool base_alone = false)
      : ProgramError(why.message),
        failure(std::move(why)),
        is_usage(names_no_benchmark),
        head_is_sound(base_alone) {}

  model::PairedFailure failure;
  bool is_usage;       ///< a command was named that is not a benchmark
  bool head_is_sound;  ///< only base fails: head was run alone
};

/// The state of a comparison so far.
struct Compared {
  model::PairedTrial trial;
  std::string why_identical;  ///< a clause: why nothing was measured, or built
};

/// Runs the trial, or the part that its journal lacks. If the plan says so, only builds a revision,
/// unless nothing would be measured. Throws UsageError, NotComparable and json::JournalError.
[[nodiscard]] Ending compare(const ComparisonPlan& plan, const Listener& listener,
                             const std::stop_token& stop, Compared& comparison);

}  // namespace taskbench::harness
