// Measures the noise floor of a machine: compares copies of one build with each other in successive
// paired trials.
#pragma once

#include "harness/files/baseline_store.hpp"
#include "harness/programs/measured_process.hpp"
#include "harness/trials/journaled_trial.hpp"
#include "reports/model/paired.hpp"

namespace taskbench::harness {

inline constexpr int kLeastDefaultTrials = 12;
inline constexpr int kTrialsOfCopy = 8;

struct CalibrationPlan {
  Strings copies;            ///< commands
  bool trusted = false;      ///< the user says that they are copies
  Strings workloads;         ///< as given
  model::PairedSetup setup;  ///< shared by all trials
  double timeout_s = kDefaultProcessTimeout_s;
  std::optional<int> trials;  ///< maximum; empty: as many as the copies need, or as first planned
  fs::path store{kDefaultStore};
  fs::path journals{"taskbench-calibrate.journal"};  ///< a folder: a file for each trial
  bool resume = false;
  bool budget_is_given = false;   ///< otherwise a resumed calibration keeps its own
  bool blocks_are_given = false;  ///< otherwise as many as fit
  /// Throws UsageError for options that contradict the ones that the trials were started with.
  std::function<void(const model::PairedSetup& then)> refuse_other_options;
};

struct Calibrated {
  model::PairedSetup setup;                ///< with the budget that holds
  std::vector<model::PairedTrial> trials;  ///< all but the last are complete
};

/// The trials that count. One that the end of the budget cut short does not, but can be resumed.
[[nodiscard]] std::span<const model::PairedTrial> complete_trials(
    const std::vector<model::PairedTrial>& trials);

/// Runs the trials until all are complete, the budget is spent, or a stop is requested. Throws
/// UsageError, ProgramError and json::JournalError.
[[nodiscard]] Ending calibrate(const CalibrationPlan& plan, const Listener& listener,
                               const std::stop_token& stop, Calibrated& calibration);

}  // namespace taskbench::harness
