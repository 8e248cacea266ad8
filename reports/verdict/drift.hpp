// Whether the machine changed during a measurement, and how much of it others used. Pure functions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "reports/model/drift.hpp"
#include "reports/model/paired.hpp"

namespace taskbench::reports::verdict {

// Thresholds above which a run gets a warning.
inline constexpr double kMovedStolenShare = 0.01;
inline constexpr double kMovedOthersShare = 0.05;
inline constexpr double kMovedMhzShare = 0.05;  ///< of the earlier rate

/// A quantity that moved by more than its threshold. Throttling and swapping have no threshold: one
/// occurrence is enough.
struct Movement {
  std::string quantity;  ///< as in the JSON: "stolen_share"
  std::string text;      ///< "3.1 % of the CPU time was stolen by the hypervisor (above 1 %)"
};

/// Everything that moved, in the order of the model's fields. Unknown values have not moved.
[[nodiscard]] std::vector<Movement> movements(const model::Drift& drift);

/// A warning on one line; empty if nothing moved.
[[nodiscard]] std::string drift_warning(const model::Drift& drift);

/// The total drift over all processes with a recorded drift; without the clock rate, which is not
/// recorded.
[[nodiscard]] model::Drift drift_over(std::span<const model::ProcessSample> samples);

/// Number of CPUs by which the use by others may differ between two series, and which others may
/// use while a baseline or a noise floor is measured: beyond it, the result says too little about
/// the program.
inline constexpr double kOthersCpus = 0.1;

/// The use of CPUs by anything but the program, in CPUs: 0.5 is half of one all the time.
struct Others {
  double cpus = 0;    ///< number of CPUs
  double used = 0;    ///< by other processes and the kernel
  double stolen = 0;  ///< by the hypervisor
  double taken = 0;   ///< `used` and `stolen`; of the middle process if above the mean

  [[nodiscard]] bool are_many() const { return taken > kOthersCpus; }
};

/// What others used during the processes with these uses. Unknown if one use is unknown, and if the
/// processes took less than a second together: the kernel counts in ticks.
[[nodiscard]] model::Fact<Others> others_of(std::span<const model::Fact<model::CpuUse>> uses);
/// Likewise, during all processes of these trials.
[[nodiscard]] model::Fact<Others> others_of(std::span<const model::PairedTrial> trials);

}  // namespace taskbench::reports::verdict
