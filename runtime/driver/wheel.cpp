#include "runtime/driver/wheel.hpp"

#include <algorithm>
#include <bit>

#include "runtime/driver/driver.hpp"
#include "runtime/driver/simulation.hpp"
#include "runtime/task/context.hpp"
#include "runtime/task/harness.hpp"

namespace taskbench::rt::driver {
namespace {

/// How many tasks are woken at once, outside of the lock.
constexpr std::size_t kTasksAtOnce = 64;

}  // namespace

/// Holds the lock.
class TASKBENCH_LOCK_SCOPE Wheel::Section {
 public:
  // Unchecked: the analysis cannot see that both ways take the same lock, or that by_ is constant.
  Section(Wheel& wheel, By by) noexcept TASKBENCH_ACQUIRE(wheel.lock_) TASKBENCH_UNCHECKED
      : lock_(wheel.lock_),
        by_(by) {
    if (by_ == By::owner) {
      lock_.owner_enter();
    } else {
      while (!lock_.visitor_try_enter()) base::yield_thread();
    }
  }
  ~Section() TASKBENCH_RELEASE() TASKBENCH_UNCHECKED {
    if (by_ == By::owner) {
      lock_.owner_leave();
    } else {
      lock_.visitor_leave();
    }
  }
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;

 private:
  base::BiasedLock& lock_;
  const By by_;
};

Wheel::By Wheel::caller() const noexcept {
  task::Spawner* const scheduler = task::thread_context().scheduler;
  if (this == &driver_.outside_wheel() || scheduler == nullptr) return By::visitor;
  return &scheduler->timers() == this ? By::owner : By::visitor;
}

void Wheel::insert(Timer& timer, base::Clock::time_point deadline, task::Header* waiter) noexcept {
  timer.wheel = this;
  timer.waiter = waiter;
  const Tick when = std::min(driver_.tick_at_or_after(deadline), kLast);
  {
    const Section section(*this, caller());
    // Advances an empty wheel first, so that timers lie no higher than necessary.
    if (levels_ == 0) time_ = std::max(time_, driver_.tick_before(driver::now()));
    timer.when = std::max(when, time_);
    put(timer);
    if (timer.when >= next()) return;
    // relaxed: W2; interrupt() fences
    next_.store(timer.when, base::relaxed);
  }
  driver_.interrupt(timer.when);
}

void Wheel::cancel(Timer& timer) noexcept {
  task::Header* waiter = nullptr;
  {
    const Section section(*this, caller());
    // relaxed: under the lock under which it is set (W4)
    if (timer.fired.load(base::relaxed)) return;
    take_out(timer);
    waiter = timer.waiter;
  }
  task::drop_reference(waiter);
}

void Wheel::forget_cancelled(By by) noexcept {
  const Section section(*this, by);
  // relaxed: W2. Neither is later than any timer; a slot may begin before its first one is due.
  next_.store(std::max(next_.load(base::relaxed), next_slot()), base::relaxed);
}

void Wheel::fire(Tick now, By by) noexcept {
  std::array<task::Header*, kTasksAtOnce> woken;
  std::size_t count = 0;
  do {
    {
      const Section section(*this, by);
      count = take_due(now, woken);
      // relaxed: W2; the thread that fires looks at it again before it sleeps
      next_.store(next_slot(), base::relaxed);
    }
    std::for_each_n(woken.begin(), count, task::wake);
  } while (count == woken.size());
}

std::size_t Wheel::take_due(Tick now, std::span<task::Header*> woken) noexcept {
  std::size_t count = 0;
  while (count < woken.size()) {
    const Tick begin = next_slot();
    if (begin > now) {
      time_ = std::max(time_, now);
      break;
    }
    time_ = std::max(time_, begin);
    const auto level = static_cast<unsigned>(std::countr_zero(levels_));
    const std::size_t slot =
        level * kSlots + static_cast<unsigned>(std::countr_zero(occupied_[level]));
    Timer* const first = slots_[slot];
    if (level != 0) {
      // Each timer moves to a lower level, as time_ now has this slot's digit.
      while (Timer* timer = slots_[slot]) {
        take_out(*timer);
        put(*timer);
      }
      continue;
    }
    take_out(*first);
    woken[count++] = first->waiter;
    first->fired.store(true, base::release);  // release: pairs with the acquire in time/sleep (W4)
  }
  return count;
}

Tick Wheel::next_slot() const noexcept {
  if (levels_ == 0) return kNever;
  const auto level = static_cast<unsigned>(std::countr_zero(levels_));
  const auto digit = static_cast<Tick>(std::countr_zero(occupied_[level]));
  const unsigned shift = level * kDigitBits;
  const Tick above = time_ >> (shift + kDigitBits) << (shift + kDigitBits);
  return above | digit << shift;
}

void Wheel::put(Timer& timer) noexcept {
  const Tick differs = (timer.when ^ time_) | 1;
  const unsigned level = static_cast<unsigned>(std::bit_width(differs) - 1) / kDigitBits;
  const auto digit = static_cast<unsigned>(timer.when >> (level * kDigitBits)) % kSlots;
  timer.slot = static_cast<std::uint16_t>(level * kSlots + digit);
  Timer*& first = slots_[timer.slot];
  if (first == nullptr) {
    first = timer.next = timer.previous = &timer;
    occupied_[level] |= std::uint64_t{1} << digit;
    levels_ |= 1U << level;
    return;
  }
  timer.next = first;
  timer.previous = first->previous;
  timer.previous->next = first->previous = &timer;
}

void Wheel::take_out(Timer& timer) noexcept {
  Timer*& first = slots_[timer.slot];
  if (timer.next != &timer) {
    timer.next->previous = timer.previous;
    timer.previous->next = timer.next;
    if (first == &timer) first = timer.next;
    return;
  }
  first = nullptr;
  const unsigned level = timer.slot / kSlots;
  occupied_[level] &= ~(std::uint64_t{1} << timer.slot % kSlots);
  if (occupied_[level] == 0) levels_ &= ~(1U << level);
}

}  // namespace taskbench::rt::driver
