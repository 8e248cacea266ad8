#include "harness/os/cpu_affinity.hpp"

#include <thread>

namespace taskbench::harness {

std::vector<unsigned> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<unsigned> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

unsigned usable_cpu_count() {
  const auto allowed = static_cast<unsigned>(allowed_cpus().size());
  return allowed > 0 ? allowed : std::max(1U, std::thread::hardware_concurrency());
}

bool bind_to_cpu(unsigned cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

ScopedBinding::ScopedBinding(unsigned cpu) {
  CPU_ZERO(&before_);
  bound_ = sched_getaffinity(0, sizeof before_, &before_) == 0 && bind_to_cpu(cpu);
}

ScopedBinding::~ScopedBinding() {
  // The kernel accepted this set before. If it refuses now (CPUs taken offline), the thread stays
  // bound, which only costs speed later.
  if (bound_) (void)sched_setaffinity(0, sizeof before_, &before_);
}

}  // namespace taskbench::harness
