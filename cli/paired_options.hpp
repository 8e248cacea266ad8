// The options of the commands that compare two programs in blocks: ab and gate.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/option_values.hpp"
#include "cli/process_options.hpp"
#include "cli/revision.hpp"
#include "cli/verdict_options.hpp"
#include "cli/verdict_output.hpp"
#include "reports/model/paired.hpp"

namespace taskbench::cli {

/// Wherein the commands differ.
struct PairedPolicy {
  std::string_view command;  ///< "ab"
  double budget_s = 0;
  std::string_view journal;  ///< where it is kept when none is named
  /// For CI: what an earlier job left behind is in nobody's way. A journal that is there is begun
  /// anew, and one that --resume names but that is missing, too.
  bool replaces_journal = false;
  bool reports_failures = false;  ///< the files are written then as well
};

/// One of the two programs: a command, or a revision to build.
struct ProgramSource {
  std::string command;
  std::string revision;
  [[nodiscard]] bool given() const { return !command.empty() || !revision.empty(); }
};

/// What was asked for, understood.
struct PairedPlan {
  PairedPolicy policy;
  ProgramSource base;
  ProgramSource head;
  BuildRecipe recipe;
  reports::model::PairedSetup setup;  ///< without what explore() finds out
  std::vector<std::string> workloads;
  std::vector<std::string> outputs;  ///< what else than the executables must be equal
  double budget_s = 600;
  double timeout_s = kDefaultProcessTimeout_s;
  std::filesystem::path store;
  bool run_identical = false;
  std::set<std::string_view> given;  ///< options that decide how to measure and judge
  VerdictOutput output;
};

/// What was asked for of one program that is compared with what is stored.
struct StoredPlan {
  std::string program;  ///< empty: none was given
  std::filesystem::path store;
  double timeout_s = 0;
  VerdictOutput output;
};

class PairedOptions {
 public:
  explicit PairedOptions(const PairedPolicy& policy) : policy_(policy), output_(policy.journal) {}

  void declare(CLI::App& app, OptionValueTable& values);

  /// Understands what was given. Throws UsageError.
  [[nodiscard]] PairedPlan plan();

  /// The same for a program that is compared with a stored baseline, of which `option` is the name.
  /// Options that only two programs need are refused.
  [[nodiscard]] StoredPlan plan_stored(std::string_view option);

  /// Of what plan() or plan_stored() has understood.
  [[nodiscard]] const VerdictOptions& verdict() const { return verdict_; }

 private:
  void declare_programs(CLI::App& app, OptionValueTable& values);
  void declare_measurement(CLI::App& app, OptionValueTable& values);
  void plan_programs(PairedPlan& plan) const;
  void plan_measurement(PairedPlan& plan) const;
  [[nodiscard]] bool parse_counters() const;

  using Given = std::vector<std::string>;

  PairedPolicy policy_;
  ProcessOptions process_;
  VerdictOptions verdict_;
  VerdictOutputOptions output_;
  Given base_;
  Given head_;
  Given base_rev_;
  Given head_rev_;
  Given build_;
  Given program_;
  Given cache_;
  Given outputs_;
  Given workloads_;
  Given budget_;
  Given max_blocks_;
  Given counters_;
  Given store_;
  bool run_identical_ = false;
};

}  // namespace taskbench::cli
