// How much of the CPUs was used by anything but what was measured.
#pragma once

#include <span>

#include "reports/model/drift.hpp"
#include "reports/model/fact.hpp"

namespace taskbench::reports::verdict {

/// The CPUs, as a number, by which others' use may differ between two series, and that others may
/// use while a baseline or a noise floor is measured: with more, the result says too little about
/// the program.
inline constexpr double kOthersCpus = 0.1;

/// How much of the CPUs was not the program's, in CPUs: 0.5 is half of one all the time.
struct Others {
  double cpus = 0;    ///< that there are
  double used = 0;    ///< by other processes and the kernel
  double stolen = 0;  ///< by the hypervisor
  double taken = 0;   ///< `used` and `stolen`; if greater than the mean, the middle process's

  [[nodiscard]] bool are_many() const { return taken > kOthersCpus; }
};

/// What others used while the processes with these uses ran. Unknown if one use is, and for
/// processes that took less than a second together: the kernel counts in ticks.
[[nodiscard]] model::Fact<Others> others_of(std::span<const model::Fact<model::CpuUse>> uses);

}  // namespace taskbench::reports::verdict
