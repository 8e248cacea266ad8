// sleep() and sleep_until(): a task waits for a time, its worker runs others meanwhile.
//
// Time is steady: setting the system's clock does not move it. A sleep ends with the first
// millisecond, counted from the start of the runtime, that is not before its deadline: never early,
// and on an idle machine at most one to two milliseconds late. If all workers compute for long
// without an await, it is late by that time.
//
// Cancellation-safe: an await that is given up leaves nothing behind. A sleep whose deadline has
// passed spends the task's budget, as a ready channel does.
#pragma once

#include <chrono>
#include <coroutine>

#include "runtime/base/sync_primitives.hpp"
#include "runtime/driver/timer.hpp"
#include "runtime/task/leaf.hpp"

namespace taskbench::rt::time {

/// The clock of timers: std::chrono::steady_clock, with its time points; in a runtime for tests the
/// clock of the test.
struct Clock {
  using time_point = base::Clock::time_point;
  using duration = time_point::duration;
  using rep = duration::rep;
  using period = duration::period;
  static constexpr bool is_steady = true;

  [[nodiscard]] static time_point now() noexcept;
};

/// What sleep() returns, to be awaited by one task only, which it wakes, and by one coroutine at a
/// time, also in branches of that task. Once it has begun it must not outlive the runtime.
class [[nodiscard]] Sleep : private task::Leaf {
 public:
  explicit Sleep(Clock::time_point deadline) noexcept
      : Leaf(&Sleep::poll_timer), deadline_(deadline) {}
  ~Sleep() {
    if (timer_.wheel != nullptr) withdraw();
  }
  Sleep(const Sleep&) = delete;
  Sleep& operator=(const Sleep&) = delete;

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> coroutine) {
    if (timer_.wheel != nullptr) refuse_others(task::task_of(coroutine));
    return task::suspend_with_budget(*this, coroutine);
  }
  void await_resume() const noexcept {}

  [[nodiscard]] Clock::time_point deadline() const noexcept { return deadline_; }

  /// For the runtime: whether an await in this poll of `task` would end. False: the sleep is not
  /// over and will wake the task, or the task's budget is spent and the task yields.
  [[nodiscard]] bool is_over(task::Header* task) {
    if (timer_.wheel == nullptr && !task::spend_budget(task)) return false;
    return poll_timer(this, task);
  }

 private:
  static bool poll_timer(task::Leaf* leaf, task::Header* task);
  void withdraw() noexcept;
  /// Throws std::logic_error unless `task` is the one that this sleep, which has begun, wakes.
  void refuse_others(const task::Header* task) const;

  const Clock::time_point deadline_;
  driver::Timer timer_;
};

/// Throws std::logic_error outside of every runtime.
Sleep sleep_until(Clock::time_point deadline);
/// Sleeps for `duration` from now on; waits for nothing if it is not positive.
Sleep sleep(std::chrono::nanoseconds duration);

/// `duration` from now on, or the end of time if that comes first.
[[nodiscard]] Clock::time_point after(std::chrono::nanoseconds duration) noexcept;

}  // namespace taskbench::rt::time
