// How the machine changed while something was measured. Shares are of the CPU time of the CPUs that
// this process may use.
#pragma once

#include <cstdint>
#include <optional>

#include "reports/model/fact.hpp"

namespace taskbench::reports::model {

struct Drift {
  double seconds = 0;         ///< how long it was watched
  Fact<double> stolen_share;  ///< what the hypervisor gave to others while a CPU wanted to run
  Fact<double> others_share;  ///< what other processes and the kernel used: all that was not ours
  Fact<double> mhz_before;    ///< clock rate of the fastest CPU
  Fact<double> mhz_after;
  Fact<std::int64_t> thermal_throttles;  ///< how often a CPU was slowed down for its heat
  Fact<std::int64_t> quota_throttles;    ///< periods in which a CPU quota was used up
  Fact<std::int64_t> swapped_pages;      ///< read from swap and written there, by all processes
};

/// How the CPU time of the CPUs that a process could use was spent while it ran.
struct CpuUse {
  double seconds = 0;   ///< how long it was watched: the whole process
  double total_s = 0;   ///< CPU time that there was
  double others_s = 0;  ///< used by other processes and the kernel
  double stolen_s = 0;  ///< given to others by the hypervisor while a CPU wanted to run

  friend bool operator==(const CpuUse&, const CpuUse&) = default;
};

/// What was used of the machine while one process ran. Sums over processes show what a single one
/// is too short for. Empty values are unknown.
struct MachineUse {
  double seconds = 0;
  Fact<CpuUse> cpu{};
  std::optional<std::int64_t> thermal_throttles;
  std::optional<std::int64_t> quota_throttles;
  std::optional<std::int64_t> swapped_pages;
};

}  // namespace taskbench::reports::model
