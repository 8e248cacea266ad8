// Compares two programs, or two revisions, as ab and gate do: builds what has to be built, runs the
// paired trial, and says if there is nothing to measure or to judge.
#pragma once

#include "harness/trials/baseline_store.hpp"
#include "harness/trials/journaled_trial.hpp"
#include "harness/trials/paired_trial.hpp"
#include "harness/trials/revision.hpp"

namespace taskbench::harness {

/// One of the two programs: a command, or a revision to build.
struct ProgramSource {
  std::string command;
  std::string revision;
  fs::path root;  ///< of all files that may differ from the other command's; empty: not known

  [[nodiscard]] bool given() const { return !command.empty() || !revision.empty(); }
};

/// Which part of a trial is measured: number I of N.
struct PartOf {
  int number = 0;
  int of = 0;
};

/// What is compared, and how.
struct ComparisonPlan {
  ProgramSource base;
  ProgramSource head;
  BuildRecipe recipe{
      .build = std::string(kDefaultBuild), .program = std::string(kDefaultProgram), .cache = {}};
  model::PairedSetup setup;  ///< without what explore() fills in
  Strings workloads;         ///< as given
  Strings documentation;     ///< patterns
  Strings outputs;           ///< other files than the executables that must be equal
  fs::path cwd;              ///< where programs run, from a checkout's root; empty: there, or here
  fs::path store{kDefaultStore};
  bool run_identical = false;
  bool explain = false;                 ///< count by function after a failure
  std::vector<model::Side> build_only;  ///< build these sides, measure nothing
  fs::path out;                         ///< where both are then put; empty: nowhere
  fs::path programs;                    ///< where both were put; empty: nowhere
  std::optional<PartOf> part;           ///< measure this part of the trial, without a verdict
  /// For CI: whoever reads the comment on a pull request wants to know of a mistake, too, of a
  /// benchmark that fails, and whether head is sound where base is not.
  bool is_gate = false;
  JournalPlan journal;
  /// The options besides --base and --head that measure the same elsewhere.
  std::string repeating_options;
  bool budget_is_given = false;  ///< otherwise a trial that goes on keeps its own
  bool timeout_is_given = false;
  bool acknowledged_is_given = false;
  /// Throws UsageError for options that contradict those that a trial was started with.
  std::function<void(const model::PairedSetup& then)> refuse_other_options;
  /// What the budget cannot decide, in a note, as soon as the duration of a block is known.
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
  bool is_usage;       ///< a command was named that is no benchmark
  bool head_is_sound;  ///< only base fails: head was tried alone
};

/// A comparison as far as it has come.
struct Compared {
  model::PairedTrial trial;
  std::string why_identical;  ///< a clause: why nothing was measured, or built
};

/// Runs the trial, or what its journal lacks of it; or, if the plan says so, only builds a
/// revision, unless nothing would be measured. Throws UsageError, NotComparable and
/// json::JournalError.
[[nodiscard]] Ending compare(const ComparisonPlan& plan, const Listener& listener,
                             const std::stop_token& stop, Compared& comparison);

}  // namespace taskbench::harness
