// Sums of times and durations that users give. They saturate instead of overflowing.
#pragma once

#include <chrono>
#include <cstdint>

#include "runtime/base/sync_primitives.hpp"

namespace taskbench::rt::base {

/// The sum of `time` and `by`, which may be negative; at most the last time that there is, and at
/// least the first.
[[nodiscard]] inline Clock::time_point later(Clock::time_point time,
                                             std::chrono::nanoseconds by) noexcept {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(std::int64_t{time.time_since_epoch().count()},
                             std::int64_t{by.count()}, &sum)) {
    return by.count() > 0 ? Clock::time_point::max() : Clock::time_point::min();
  }
  return Clock::time_point(Clock::duration(sum));
}

/// The time `time` from now, saturating likewise.
[[nodiscard]] inline Clock::time_point deadline_in(std::chrono::nanoseconds time) noexcept {
  return later(Clock::now(), time);
}

}  // namespace taskbench::rt::base
