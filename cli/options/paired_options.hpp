// The options of the commands that compare two programs in blocks: ab and gate.
#pragma once

#include <string_view>

#include "cli/options/options.hpp"
#include "cli/options/trial_options.hpp"
#include "cli/output/names.hpp"
#include "harness/trials/comparison.hpp"

namespace taskbench::cli {

/// A value of --build-only.
struct OnlySide {
  std::string_view name;
  bool base;
  bool head;
};

/// The arguments of ab and gate. declare() is the only description of an option: the command that
/// repeats a trial, and the options that a journal was started with, are derived from it.
struct PairedPlan : ComparisonPlan {
  explicit PairedPlan(bool for_gate);

  void declare(Options& options);

  /// The parts that --merge names, merged. Throws UsageError and json::JournalError.
  [[nodiscard]] model::PairedTrial merged() const;

  /// Checks and completes this command line's options for two programs. Throws UsageError.
  void complete(const Invocation& invocation);

  [[nodiscard]] std::string_view command() const { return is_gate ? "gate" : "ab"; }

  const OnlySide* only = nullptr;  ///< of --build-only
  Strings merge;                   ///< journals of parts; empty: nothing is merged
  bool may_miss_some = false;
  std::optional<model::Unit> unit;  ///< empty: auto
  int rounds = 1;
  VerdictOptions verdict;
  VerdictOutput output;

 private:
  /// Refuses --explain together with `option`, and says what explains instead. Throws UsageError.
  void refuse_to_explain(std::string_view option, std::string_view why) const;

  void declare_merge(Options& options);
};

}  // namespace taskbench::cli
