// The options of the commands that compare two programs in blocks: ab and gate.
#pragma once

#include <functional>
#include <set>

#include "cli/names.hpp"
#include "cli/options/options.hpp"
#include "cli/options/process_options.hpp"
#include "cli/options/verdict_options.hpp"
#include "cli/options/verdict_output.hpp"
#include "cli/tools/revision.hpp"
#include "cli/trials/baseline_store.hpp"
#include "reports/model/paired.hpp"

namespace taskbench::cli {

/// How ab and gate differ.
struct PairedPolicy {
  std::string_view command;  ///< "ab"
  double budget_s = 0;
  std::string_view journal;  ///< where it is kept when none is named
  /// For CI, where an earlier job may have left a journal: it is started afresh, as is one that
  /// --resume names but that is missing.
  bool replaces_journal = false;
  bool reports_failures = false;  ///< the files are written then as well
};

/// One of the two programs: a command, or a revision to build.
struct ProgramSource {
  std::string command;
  std::string revision;
  [[nodiscard]] bool given() const { return !command.empty() || !revision.empty(); }
};

/// What was asked for.
struct PairedPlan {
  PairedPolicy policy;
  ProgramSource base;
  ProgramSource head;
  BuildRecipe recipe{
      .build = std::string(kDefaultBuild), .program = std::string(kDefaultProgram), .cache = {}};
  model::PairedSetup setup;  ///< without what explore() finds out
  Strings workloads;
  Strings outputs;  ///< what else than the executables must be equal
  double budget_s = 600;
  double timeout_s = kDefaultProcessTimeout_s;
  fs::path store{kDefaultStore};
  bool run_identical = false;
  std::set<std::string, std::less<>> given;  ///< every option that was
  VerdictOutput output;
};

class PairedOptions {
 public:
  explicit PairedOptions(const PairedPolicy& policy);

  void declare(Options& options);

  /// Declares an option that compares one program, --head, with something else than another one:
  /// it excludes the options that only two programs need.
  void exclude_two_programs(CLI::Option* option);

  /// Completes what was given for two programs. Throws UsageError.
  [[nodiscard]] PairedPlan plan() const;

  /// What was given; nothing of it has been checked against the rest.
  [[nodiscard]] PairedPlan given() const;

  [[nodiscard]] const VerdictOptions& verdict() const { return verdict_; }

 private:
  void declare_programs(Options& options);
  void declare_measurement(Options& options);

  PairedPlan plan_;
  ProcessOptions process_;
  VerdictOptions verdict_;
  VerdictOutputOptions output_;
  CLI::App* app_ = nullptr;
};

}  // namespace taskbench::cli
