#include "runtime/time/sleep.hpp"

#include <stdexcept>

#include "runtime/base/deadline.hpp"
#include "runtime/driver/simulation.hpp"
#include "runtime/driver/wheel.hpp"
#include "runtime/task/context.hpp"
#include "runtime/task/harness.hpp"

namespace taskbench::rt::time {

using driver::Wheel;

Clock::time_point Clock::now() noexcept { return driver::now(); }

Clock::time_point after(std::chrono::nanoseconds duration) noexcept {
  return base::later(Clock::now(), duration);
}

Sleep sleep_until(Clock::time_point deadline) {
  if (task::thread_context().scheduler == nullptr) {
    throw std::logic_error(
        "rt::time::sleep, timeout and Interval::tick need a runtime: call them from a task or "
        "inside "
        "block_on");
  }
  return Sleep(deadline);
}

Sleep sleep(std::chrono::nanoseconds duration) { return sleep_until(after(duration)); }

bool Sleep::poll_timer(task::Leaf* leaf, task::Header* task) {
  Sleep& self = *static_cast<Sleep*>(leaf);
  if (self.timer_.wheel == nullptr) {
    if (Clock::now() >= self.deadline_) return true;
    Wheel& wheel = task::thread_context().scheduler->timers();
    wheel.insert(self.timer_, self.deadline_, task::reference_in_poll(task));
    return false;
  }
  // acquire: pairs with the release in Wheel::take_due()
  return self.timer_.fired.load(base::acquire);
}

void Sleep::refuse_others(const task::Header* task) const {
  // acquire: pairs with the release in Wheel::take_due()
  if (timer_.fired.load(base::acquire) || timer_.waiter == task) return;
  throw std::logic_error(
      "this sleep has begun in another task, and will wake that: let each task await one of its "
      "own");
}

void Sleep::withdraw() noexcept {
  // acquire: pairs with the release in Wheel::take_due()
  if (!timer_.fired.load(base::acquire)) timer_.wheel->cancel(timer_);
}

}  // namespace taskbench::rt::time
