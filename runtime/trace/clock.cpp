#include "runtime/trace/clock.hpp"

#include <cmath>
#include <fstream>
#include <limits>
#include <string>

namespace taskbench::rt::trace {
namespace {

/// Whether the kernel's own clock is the time stamp counter. The kernel watches the counter, and
/// changes to another source when the CPUs do not agree.
bool kernel_keeps_time_by_counter() {
  if constexpr (!base::kHasTimeStampCounter) return false;
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string source;
  return (file >> source) && source == "tsc";
}

}  // namespace

std::int64_t TickScale::ns(std::uint64_t ticks) const noexcept {
  // Signed: an event may be older than the origin by the width of a reading.
  const auto since = static_cast<std::int64_t>(ticks - origin_ticks);
  return origin_ns + std::llround(static_cast<double>(since) * ns_per_tick);
}

Clock::Clock(bool counter_allowed)
    : uses_counter_(counter_allowed && kernel_keeps_time_by_counter()), first_(read_both()) {}

TickScale Clock::scale() const {
  TickScale scale{first_.ticks, first_.ns, 1};
  if (!uses_counter_) return scale;
  Reading last = read_both();
  // Between readings that are close to each other, small errors would give a bad slope.
  constexpr std::int64_t kLeastDistance_ns = 1'000'000;
  while (last.ns - first_.ns < kLeastDistance_ns) last = read_both();
  scale.ns_per_tick =
      static_cast<double>(last.ns - first_.ns) / static_cast<double>(last.ticks - first_.ticks);
  return scale;
}

Clock::Reading Clock::read_both() const noexcept {
  // The narrowest of several readings: an interruption makes a reading wider.
  constexpr int kLooks = 16;
  Reading best;
  std::uint64_t narrowest = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < kLooks; ++i) {
    const std::uint64_t before = ticks();
    const std::int64_t ns = steady_ns();
    const std::uint64_t width = ticks() - before;
    if (width >= narrowest) continue;
    narrowest = width;
    best = {before + width / 2, ns};
  }
  return best;
}

}  // namespace taskbench::rt::trace
