// What of the machine moves while something is measured.
#pragma once

#include <cstdint>
#include <filesystem>

#include "reports/model/baseline.hpp"
#include "reports/model/drift.hpp"

namespace taskbench::harness {

/// CPU time since the machine was started, of the CPUs that this process may use.
struct CpuTimes {
  double busy_s = 0;    ///< not idle and not stolen
  double stolen_s = 0;  ///< a CPU wanted to run, and the hypervisor ran another machine's
  double total_s = 0;
};

/// All that only ever grows, and the clock rate. Two of them give a Drift.
struct MachineReading {
  double at_s = 0;       ///< of the monotonic clock
  double own_cpu_s = 0;  ///< of this process and the children it has waited for
  reports::model::Fact<CpuTimes> cpu;
  reports::model::Fact<double> mhz;
  reports::model::Fact<std::int64_t> thermal_throttles;
  reports::model::Fact<std::int64_t> quota_throttles;
  reports::model::Fact<std::int64_t> swapped_pages;
};

/// Takes about a tenth of a millisecond, and where the kernel shows clock rates 20 ms of work, at
/// most 40, before they are read unless `with_clock_rate` is false; it does not belong into what is
/// timed. `root` is where /proc and /sys are looked for.
[[nodiscard]] MachineReading read_machine(const std::filesystem::path& root = "/",
                                          bool with_clock_rate = true);

/// What moved from `before` to `after`. The kernel counts CPU time in ticks of 10 ms, so that
/// shares of less than half a second are unknown.
[[nodiscard]] reports::model::Drift drift_between(const MachineReading& before,
                                                  const MachineReading& after);

/// The same in parts that sum up over several processes, and without the clock rate.
[[nodiscard]] reports::model::MachineUse use_between(const MachineReading& before,
                                                     const MachineReading& after);

}  // namespace taskbench::harness
