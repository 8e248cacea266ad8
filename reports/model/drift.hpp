// How the machine changed during a measurement. Shares are of the CPU time of the CPUs that this
// process may use.
#pragma once

#include <cstdint>
#include <optional>

#include "reports/model/fact.hpp"

namespace taskbench::reports::model {

struct Drift {
  double seconds = 0;         ///< duration of the observation
  Fact<double> stolen_share;  ///< time that the hypervisor gave to others while a CPU wanted to run
  Fact<double> others_share;  ///< used by other processes and the kernel
  Fact<double> mhz_before;    ///< clock rate of the fastest CPU
  Fact<double> mhz_after;
  Fact<std::int64_t> thermal_throttles;  ///< how often a CPU was slowed down due to heat
  Fact<std::int64_t> quota_throttles;    ///< periods in which a CPU quota was used up
  Fact<std::int64_t> swapped_pages;      ///< read from and written to swap, by all processes
};

/// The CPU time of all CPUs available to a process, during its life.
struct CpuUse {
  double seconds = 0;   ///< duration of the observation: the whole process
  double total_s = 0;   ///< available CPU time
  double others_s = 0;  ///< used by other processes and the kernel
  double stolen_s = 0;  ///< given to others by the hypervisor while a CPU wanted to run

  friend bool operator==(const CpuUse&, const CpuUse&) = default;
};

/// The use of the machine while one process ran. A sum over processes shows effects for which a
/// single one is too short. Empty values are unknown.
struct MachineUse {
  double seconds = 0;
  Fact<CpuUse> cpu{};
  std::optional<std::int64_t> thermal_throttles;
  std::optional<std::int64_t> quota_throttles;
  std::optional<std::int64_t> swapped_pages;
};

}  // namespace taskbench::reports::model
