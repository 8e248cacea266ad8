#include "runtime/trace/planted_delay.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "runtime/base/assert.hpp"

namespace taskbench::rt {

#if defined(TASKBENCH_PLANT)

namespace {

/// The shortest of several measurements: interruptions only make one longer.
double ns_per_round() {
  using base::Clock;
  constexpr std::uint64_t kRounds = 20'000;
  constexpr int kLooks = 50;
  Clock::duration least = Clock::duration::max();
  for (int i = 0; i < kLooks; ++i) {
    const Clock::time_point start = Clock::now();
    trace::spend_rounds(kRounds);
    least = std::min(least, Clock::now() - start);
  }
  return std::chrono::duration<double, std::nano>(least).count() / kRounds;
}

}  // namespace

void plant_delay(DelaySite site, double ns) {
  TASKBENCH_ASSERT(ns >= 0 && ns <= kMaxPlantedDelay_ns, "a delay has its limits");
  trace::planted_rounds[static_cast<std::size_t>(site)] =
      static_cast<std::uint64_t>(std::llround(ns / ns_per_round()));
}

#else

void plant_delay(DelaySite, double) {
  TASKBENCH_ASSERT(kPlantsDelays, "only a build with TASKBENCH_PLANT has delays");
}

#endif

}  // namespace taskbench::rt
