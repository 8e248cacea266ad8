// The options of the commands that compare two programs in blocks: ab and gate.
#pragma once

#include "cli/options/options.hpp"
#include "cli/options/trial_options.hpp"
#include "cli/output/names.hpp"
#include "harness/trials/baseline_store.hpp"
#include "harness/trials/documentation.hpp"
#include "harness/trials/revision.hpp"
#include "reports/model/paired.hpp"

namespace taskbench::cli {

/// One of the two programs: a command, or a revision to build.
struct ProgramSource {
  std::string command;
  std::string revision;
  fs::path root;  ///< of all files that may differ from the other command's; empty: not known

  [[nodiscard]] bool given() const { return !command.empty() || !revision.empty(); }
};

/// A value of --build-only.
struct OnlySide {
  std::string_view name;
  model::Side side;
};
inline constexpr OnlySide kOnlySides[] = {{"base", model::Side::base}, {"head", model::Side::head}};

/// The arguments of ab and gate.
struct PairedPlan {
  explicit PairedPlan(bool is_gate);

  void declare(Options& options);

  /// Checks and completes the options for two programs. Throws UsageError.
  void complete();

  [[nodiscard]] std::string_view command() const { return is_gate ? "gate" : "ab"; }

  /// For CI, where an earlier job may have left a journal: it is replaced, and one that --resume
  /// names but that is missing is started anew. Files are also written for a failure.
  bool is_gate;
  ProgramSource base;
  ProgramSource head;
  BuildRecipe recipe{
      .build = std::string(kDefaultBuild), .program = std::string(kDefaultProgram), .cache = {}};
  model::PairedSetup setup;  ///< without what explore() fills in
  Strings workloads;
  Strings documentation = parse_list("", {std::string(kDefaultDocumentation)});  ///< patterns
  Strings outputs;  ///< other files than the executables that must be equal
  fs::path cwd;     ///< where programs run, from a checkout's root; empty: there, or here
  fs::path store{kDefaultStore};
  bool run_identical = false;
  const OnlySide* build_only = nullptr;  ///< build this side, measure nothing; empty: measure
  VerdictOptions verdict;
  VerdictOutput output;
};

/// The options that make sense only with two programs.
inline constexpr const char* kOptionsOfTwoPrograms[] = {
    "--base",     "--base-rev",      "--head-rev",      "--base-root", "--head-root",
    "--workload", "--build",         "--program",       "--cache",     "--cwd",
    "--budget",   "--max-blocks",    "--repetitions",   "--min-time",  "--seed",
    "--counters", "--run-identical", "--documentation", "--outputs",   "--build-only"};

}  // namespace taskbench::cli
