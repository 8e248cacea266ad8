// The options of the commands that compare two programs in blocks: ab and gate.
#pragma once

#include "cli/names.hpp"
#include "cli/options/options.hpp"
#include "cli/options/trial_options.hpp"
#include "cli/tools/revision.hpp"
#include "cli/trials/baseline_store.hpp"
#include "reports/model/paired.hpp"

namespace taskbench::cli {

/// One of the two programs: a command, or a revision to build.
struct ProgramSource {
  std::string command;
  std::string revision;

  [[nodiscard]] bool given() const { return !command.empty() || !revision.empty(); }
};

/// What was asked for.
struct PairedPlan {
  explicit PairedPlan(bool is_gate);

  void declare(Options& options);

  /// Checks and completes what was given for two programs. Throws UsageError.
  void complete();

  [[nodiscard]] std::string_view command() const { return is_gate ? "gate" : "ab"; }

  /// For CI, where an earlier job may have left a journal: it is started afresh, as is one that
  /// --resume names but that is missing. And the files are written for a failure as well.
  bool is_gate;
  ProgramSource base;
  ProgramSource head;
  BuildRecipe recipe{
      .build = std::string(kDefaultBuild), .program = std::string(kDefaultProgram), .cache = {}};
  model::PairedSetup setup;  ///< without what explore() finds out
  Strings workloads;
  Strings outputs;  ///< what else than the executables must be equal
  fs::path store{kDefaultStore};
  bool run_identical = false;
  VerdictOptions verdict;
  VerdictOutput output;
};

/// The options that only two programs need.
inline constexpr const char* kOptionsOfTwoPrograms[] = {
    "--base",     "--base-rev", "--head-rev", "--workload",      "--build",
    "--program",  "--cache",    "--budget",   "--max-blocks",    "--repetitions",
    "--min-time", "--seed",     "--counters", "--run-identical", "--outputs"};

}  // namespace taskbench::cli
