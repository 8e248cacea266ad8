// Series measured for the store: one is saved as a baseline, the other is compared with the
// baseline of its machine and build.
#pragma once

#include "harness/files/baseline_store.hpp"
#include "harness/programs/measured_process.hpp"
#include "harness/trials/journaled_trial.hpp"
#include "reports/verdict/baseline.hpp"

namespace taskbench::harness {

inline constexpr int kMostRounds = 4;  ///< of fresh processes, for undecided metrics

/// The options that both kinds of series share.
struct BaselinePlan {
  std::string name{kDefaultBaseline};
  std::string program;  ///< empty: this taskbench, or the baseline's program
  fs::path store{kDefaultStore};
  double timeout_s = kDefaultProcessTimeout_s;
  bool allow_busy = false;  ///< save or judge even if others use the CPUs
  JournalPlan journal;
};

struct SavePlan : BaselinePlan {
  model::SeriesSetup setup;    ///< without what explore() fills in
  Strings workloads;           ///< as given
  bool name_is_given = false;  ///< otherwise a resumed series keeps its own
  /// Throws UsageError for options that contradict the ones that a series was started with.
  std::function<void(const model::SeriesSetup& then)> refuse_other_options;
};

struct ComparePlan : BaselinePlan {
  std::optional<int> processes;  ///< empty: kDefaultFreshProcesses, or the journal's number
  double alpha = 0.01;
  double delta = 0.03;
  bool alpha_is_given = false;
  bool delta_is_given = false;
};

/// The baseline belongs to another machine or build; what() lists the differences.
struct WrongMachine : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Measures the series of a new baseline, or the part that its journal lacks. Throws UsageError,
/// ProgramError and json::JournalError.
[[nodiscard]] Ending measure_baseline(const SavePlan& plan, const Listener& listener,
                                      const std::stop_token& stop, model::Series& series);

/// Measures in the same way as the baseline, and judges. A failure is measured a second time, an
/// undecided metric up to kMostRounds times. Also throws WrongMachine.
[[nodiscard]] Ending compare_with_stored(const ComparePlan& plan, const Listener& listener,
                                         const std::stop_token& stop,
                                         verdict::BaselineComparison& comparison);

}  // namespace taskbench::harness
