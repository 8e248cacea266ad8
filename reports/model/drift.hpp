// What of the machine moved while something was measured. Shares are of the CPU time of the CPUs
// that this process may use.
#pragma once

#include <cstdint>

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

}  // namespace taskbench::reports::model
