// interval(): a task does something at regular times.
#pragma once

#include <chrono>
#include <coroutine>
#include <cstdint>
#include <memory>

#include "runtime/time/sleep.hpp"

namespace taskbench::rt::time {

/// What comes after a tick that was awaited too late, `period` or more after its time.
enum class MissedTicks : std::uint8_t {
  burst,  ///< the missed ticks at once, then as if none were missed: as many ticks as periods
  delay,  ///< the next tick a period after the late one; later ones count from there
  skip,   ///< the next tick at the next multiple of the period from the start
};

/// For one task at a time. Between two ticks it is tied to nothing, and may be moved to other tasks
/// and runtimes.
class Interval {
 public:
  /// The first tick is at `first`. Throws std::invalid_argument if `period` is not positive.
  Interval(Clock::time_point first, std::chrono::nanoseconds period,
           MissedTicks missed = MissedTicks::burst);

  class [[nodiscard]] Tick;
  /// Waits for the next tick; returns the time it was due at. Cancellation-safe: a tick whose await
  /// was given up comes again. What tick() returned may be kept, and waits for the next tick in
  /// each await. Throws std::logic_error outside of every runtime.
  Tick tick();

  [[nodiscard]] std::chrono::nanoseconds period() const noexcept { return period_; }

 private:
  /// Moves on from the tick that was waited for, and returns the time it was due at.
  Clock::time_point advance() noexcept;

  Clock::time_point next_;
  std::chrono::nanoseconds period_;
  MissedTicks missed_;
};

class Interval::Tick {
 public:
  explicit Tick(Interval& interval) : interval_(interval), sleep_(sleep_until(interval.next_)) {}

  [[nodiscard]] bool await_ready() const noexcept { return sleep_.await_ready(); }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> coroutine) {
    if (sleep_.deadline() != interval_.next_) renew();
    return sleep_.await_suspend(coroutine);
  }
  Clock::time_point await_resume() noexcept { return interval_.advance(); }

 private:
  /// The tick that the sleep is for has come, here or in another await.
  void renew() noexcept {
    std::destroy_at(&sleep_);
    std::construct_at(&sleep_, interval_.next_);
  }

  Interval& interval_;
  Sleep sleep_;
};

inline Interval::Tick Interval::tick() { return Tick(*this); }

/// Ticks every `period`, for the first time at once. A tick beyond the end of time never comes.
[[nodiscard]] Interval interval(std::chrono::nanoseconds period,
                                MissedTicks missed = MissedTicks::burst);

}  // namespace taskbench::rt::time
