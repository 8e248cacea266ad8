// The timers of one worker: a hierarchical timing wheel.
//
// Time is counted in ticks of a millisecond since the driver was made; a deadline is rounded up to
// the next tick, so that nothing fires early. Level 0 has a slot for each of the next 64 ticks,
// level 1 one for each of the next 64 times 64, and so on. A timer lies on the level of the highest
// digit (to the base 64) in which its tick differs from the wheel's time, in the slot of that
// digit. So the timers on a level come before those on the next, and the lowest occupied slot of
// the lowest occupied level is the next to handle: on level 0 its timers fire, elsewhere they are
// distributed to the levels below once its time has come. A timer moves at most kLevels times; one
// that is cancelled early usually never moves. Timers lie in the awaiters; nothing is allocated.
//
// Threads: any. The worker that owns the wheel pays no locked instruction (base/biased_lock.hpp);
// others (a stolen task, the thread that has the driver) visit. One wheel of an engine, for threads
// that are not workers, has no owner: every thread visits.
//
// Invariants
//   W1  Everything but next_ is guarded by lock_.
//   W2  next_ is at most the tick of the next slot to handle: cancelling may leave it too early,
//       which costs a look in vain, and inserting lowers it before the lock is left.
//   W3  Each timer's tick is greater than time_, or equal to it while it waits to be fired in level
//       0; on level n its digits above n are those of time_.
//   W4  The thread that fires a timer touches it for the last time when it sets `fired`, under
//       lock_; it wakes the task afterwards through the reference that belonged to the timer. So an
//       awaiter that sees `fired` may go, and one that does not takes its timer out under lock_.
//
// Rejected: a heap, as in Go: it costs log n, although most timers are cancelled early.
//
// Reference: Varghese & Lauck, "Hashed and hierarchical timing wheels" (SOSP 1987).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/base/assert.hpp"
#include "runtime/base/biased_lock.hpp"
#include "runtime/base/cache_line.hpp"
#include "runtime/base/sync_primitives.hpp"
#include "runtime/driver/timer.hpp"
#include "runtime/task/header.hpp"

namespace taskbench::rt::driver {

class Driver;

class alignas(base::kFalseSharingBytes) Wheel {
 public:
  explicit Wheel(Driver& driver) noexcept : driver_(driver) {}
  ~Wheel() {
    TASKBENCH_ASSERT(levels_ == 0, "a sleep that has begun must not outlive its runtime");
  }

  /// Arranges for `waiter` to be woken at `deadline`; the timer takes a reference to it. Called by
  /// a thread of the engine that has this wheel as its timers().
  void insert(Timer& timer, base::Clock::time_point deadline, task::Header* waiter) noexcept;
  /// Takes out a timer of this wheel, unless it has fired. It may be destroyed afterwards.
  void cancel(Timer& timer) noexcept;

  /// The caller: the worker whose wheel it is, or any other thread.
  enum class By : std::uint8_t { owner, visitor };

  /// Wakes the tasks that wait for `now` or earlier.
  void fire(Tick now, By by) noexcept;

  /// Brings next() up to date: timers that were cancelled have left it too early.
  void forget_cancelled(By by) noexcept;

  /// The tick at which to look here again; kNever: there are no timers.
  [[nodiscard]] Tick next() const noexcept {
    // relaxed: the fences of Driver::sleep_inside() and interrupt() order it; elsewhere a hint
    return next_.load(base::relaxed);
  }

 private:
  static constexpr unsigned kDigitBits = 6;
  static constexpr unsigned kSlots = 1U << kDigitBits;
  static constexpr unsigned kLevels = 7;
  /// 139 years; later deadlines fire then.
  static constexpr Tick kLast = (Tick{1} << (kDigitBits * kLevels)) - 1;

  class Section;

  [[nodiscard]] By caller() const noexcept;

  void put(Timer& timer) noexcept TASKBENCH_REQUIRES(lock_);
  void take_out(Timer& timer) noexcept TASKBENCH_REQUIRES(lock_);
  /// Takes out timers that are due, and stores their tasks in `woken`. Returns how many; fewer than
  /// fit: no more are due.
  std::size_t take_due(Tick now, std::span<task::Header*> woken) noexcept TASKBENCH_REQUIRES(lock_);
  [[nodiscard]] Tick next_slot() const noexcept TASKBENCH_REQUIRES(lock_);

  Driver& driver_;
  base::BiasedLock lock_;
  base::Atomic<Tick> next_{kNever};
  Tick time_ TASKBENCH_GUARDED_BY(lock_) = 0;
  /// A bit for each level that is occupied.
  std::uint32_t levels_ TASKBENCH_GUARDED_BY(lock_) = 0;
  std::array<std::uint64_t, kLevels> occupied_ TASKBENCH_GUARDED_BY(lock_){};
  std::array<Timer*, std::size_t{kLevels} * kSlots> slots_ TASKBENCH_GUARDED_BY(lock_){};
};

}  // namespace taskbench::rt::driver
