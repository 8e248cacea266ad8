// The clock of the tracer: the processor's time stamp counter where the kernel itself keeps time by
// it, which it does only where the counter runs evenly and is the same on every CPU; elsewhere
// CLOCK_MONOTONIC. Ticks are converted afterwards, by one reading of both clocks at the beginning
// and one at the end: the line through them is the length of a tick that the kernel used in
// between, so that the conversion is off by no more than a reading is, about 20 ns.
//
// Threads: any.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "runtime/base/sync_primitives.hpp"

namespace taskbench::rt::trace {

/// Converts ticks to nanoseconds of std::chrono::steady_clock.
struct TickScale {
  std::uint64_t origin_ticks = 0;
  std::int64_t origin_ns = 0;
  double ns_per_tick = 1;

  [[nodiscard]] std::int64_t ns(std::uint64_t ticks) const noexcept;
};

class Clock {
 public:
  /// Takes the first reading of both clocks. `counter_allowed`: false for CLOCK_MONOTONIC.
  explicit Clock(bool counter_allowed = true);

  /// Ticks follow the order of cause and effect, also between threads.
  [[nodiscard]] std::uint64_t ticks() const noexcept {
    if (uses_counter_) return base::time_stamp_counter();
    return static_cast<std::uint64_t>(steady_ns());
  }

  /// Takes the last reading of both clocks.
  [[nodiscard]] TickScale scale() const;

  [[nodiscard]] std::string_view name() const noexcept {
    return uses_counter_ ? "tsc" : "CLOCK_MONOTONIC";
  }

 private:
  struct Reading {
    std::uint64_t ticks = 0;
    std::int64_t ns = 0;
  };

  [[nodiscard]] static std::int64_t steady_ns() noexcept {
    const auto since_epoch = base::Clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(since_epoch).count();
  }
  [[nodiscard]] Reading read_both() const noexcept;

  bool uses_counter_;
  Reading first_;
};

}  // namespace taskbench::rt::trace
