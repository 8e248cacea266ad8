// Measures the noise floor of a machine: copies of one build against each other, in one paired
// trial after the other.
#pragma once

#include "harness/trials/baseline_store.hpp"
#include "harness/trials/journaled_trial.hpp"
#include "harness/trials/measured_process.hpp"
#include "reports/model/paired.hpp"

namespace taskbench::harness {

inline constexpr int kLeastDefaultTrials = 12;
inline constexpr int kTrialsOfCopy = 8;

struct CalibrationPlan {
  Strings copies;            ///< commands
  bool trusted = false;      ///< the user says that they are copies
  Strings workloads;         ///< as given
  model::PairedSetup setup;  ///< what all trials have in common
  double timeout_s = kDefaultProcessTimeout_s;
  std::optional<int> trials;  ///< most; empty: as many as the copies need, or as there were to be
  fs::path store{kDefaultStore};
  fs::path journals{"taskbench-calibrate.journal"};  ///< a folder: a file for each trial
  bool resume = false;
  bool budget_is_given = false;   ///< otherwise a calibration that goes on keeps its own
  bool blocks_are_given = false;  ///< otherwise as many as fit
  /// Throws UsageError for options that contradict those that the trials were started with.
  std::function<void(const model::PairedSetup& then)> refuse_other_options;
};

struct Calibrated {
  model::PairedSetup setup;                ///< with the budget that holds
  std::vector<model::PairedTrial> trials;  ///< all but the last are complete
};

/// The trials that count: one that the end of the budget cut short does not, but it can go on.
[[nodiscard]] std::span<const model::PairedTrial> complete_trials(
    const std::vector<model::PairedTrial>& trials);

/// Runs the trials until all are complete, the budget is spent, or it is told to stop. Throws
/// UsageError, ProgramError and json::JournalError.
[[nodiscard]] Ending calibrate(const CalibrationPlan& plan, const Listener& listener,
                               const std::stop_token& stop, Calibrated& calibration);

}  // namespace taskbench::harness
