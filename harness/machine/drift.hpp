// Changes on the machine during a measurement.
#pragma once

#include <cstdint>

#include "harness/os/names.hpp"
#include "reports/model/drift.hpp"

namespace taskbench::harness {

/// CPU time since boot, of the CPUs that this process may use.
struct CpuTimes {
  double busy_s = 0;    ///< not idle and not stolen
  double stolen_s = 0;  ///< a CPU wanted to run while the hypervisor ran another machine's
  double total_s = 0;
  std::vector<unsigned> cpus{};  ///< which are counted; empty: all of the machine
};

/// Counters that only grow, and the clock rate. Two readings give a Drift.
struct MachineReading {
  double at_s = 0;       ///< of the monotonic clock
  double own_cpu_s = 0;  ///< of this process and the children it has waited for
  model::Fact<CpuTimes> cpu;
  model::Fact<double> mhz;
  model::Fact<std::int64_t> thermal_throttles;
  model::Fact<std::int64_t> quota_throttles;
  model::Fact<std::int64_t> swapped_pages;
};

/// Takes about a tenth of a millisecond. If the kernel shows clock rates, this is preceded by 20 ms
/// of work, at most 40, unless `with_clock_rate` is false; do not include it in timings. `root` is
/// the folder that contains /proc and /sys.
[[nodiscard]] MachineReading read_machine(const fs::path& root = "/", bool with_clock_rate = true);

/// The drift from `before` to `after`. The kernel counts CPU time in ticks of 10 ms, so shares of
/// less than half a second are unknown.
[[nodiscard]] model::Drift drift_between(const MachineReading& before, const MachineReading& after);

/// The use from `before` to `after`, in parts that can be summed over several processes, without
/// the clock rate.
[[nodiscard]] model::MachineUse use_between(const MachineReading& before,
                                            const MachineReading& after);

}  // namespace taskbench::harness
