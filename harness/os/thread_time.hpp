// The CPU time of a thread.
#pragma once

#include <time.h>

namespace taskbench::harness {

/// The CPU time of the calling thread, in s.
[[nodiscard]] inline double thread_cpu_s() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

}  // namespace taskbench::harness
