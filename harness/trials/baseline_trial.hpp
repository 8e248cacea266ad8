// Series that are measured for the store: one that is saved as a baseline, and one that is compared
// with the baseline of its machine and build.
#pragma once

#include "harness/trials/baseline_store.hpp"
#include "harness/trials/journaled_trial.hpp"
#include "harness/trials/measured_process.hpp"
#include "reports/verdict/baseline.hpp"

namespace taskbench::harness {

inline constexpr int kDefaultFreshProcesses = 7;
inline constexpr int kMostRounds = 4;  ///< of fresh processes, for what stays undecided

/// What both kinds of series have in common.
struct BaselinePlan {
  std::string name{kDefaultBaseline};
  std::string program;  ///< empty: this taskbench, or that of the baseline
  fs::path store{kDefaultStore};
  double timeout_s = kDefaultProcessTimeout_s;
  bool allow_busy = false;  ///< save or judge even if others use the CPUs
  JournalPlan journal;
};

struct SavePlan : BaselinePlan {
  model::SeriesSetup setup;    ///< without what explore() fills in
  Strings workloads;           ///< as given
  bool name_is_given = false;  ///< otherwise a series that goes on keeps its own
};

struct ComparePlan : BaselinePlan {
  std::optional<int> processes;  ///< empty: kDefaultFreshProcesses, or those of the journal
  double alpha = 0.01;
  double delta = 0.03;
  bool alpha_is_given = false;
  bool delta_is_given = false;
};

/// The baseline is of another machine or build; what() says in what they differ.
struct WrongMachine : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Measures the series of a new baseline, or what its journal lacks of it. Throws UsageError,
/// ProgramError and json::JournalError.
[[nodiscard]] Ending measure_baseline(const SavePlan& plan, const Listener& listener,
                                      const std::stop_token& stop, model::Series& series);

/// Measures as the baseline was, and judges; a failure is measured a second time, and what is
/// undecided up to kMostRounds times. Throws WrongMachine, too.
[[nodiscard]] Ending compare_with_stored(const ComparePlan& plan, const Listener& listener,
                                         const std::stop_token& stop,
                                         verdict::BaselineComparison& comparison);

}  // namespace taskbench::harness
