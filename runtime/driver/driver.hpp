// The driver: the threads of an engine sleep in it, and it wakes tasks for descriptors and timers.
//
// It is the Sleeper of the engine's parkers (docs/adr/0017). One thread at a time has it: a thread
// that finds it free when it goes to sleep sleeps inside, in epoll_wait if there is anything to
// watch, at most until the first timer of all wheels; the others sleep in the futexes of their
// tokens. Waking the thread inside is one write to an eventfd; an awake one needs nothing. For an
// engine that uses neither descriptors nor timers the driver opens nothing: the thread inside
// sleeps in a futex, too.
//
// Events and due timers end sleep(); the thread still has the driver then. It first becomes an
// awake worker, and then calls dispatch(), which wakes the tasks in its own context and gives the
// driver up. A worker that does not sleep looks every now and then.
//
// No wake-up is lost: the story of two threads
//   inside:   wakes_at_, inside_ = ...;  fence;  read the token, the wheels, whether epoll is open
//   others:   publish one of these;      fence;  read wakes_at_, inside_
// One of the two fences comes first. If it is that of the thread inside, the others see that it
// sleeps, and how, and end its sleep. If it is the others', the thread inside sees what they have
// published. A signal that comes before the sleep is kept: in the word signal_, or in the eventfd.
//
// The watch. A thread that leaves the driver to run tasks may compute for long while all others
// sleep outside. So one of these, the watcher, sleeps for at most kWatch, and then takes the driver
// if it is free, or else stops watching. A thread that goes to sleep outside watches if none does;
// a thread that leaves the driver appoints a watcher only if there is still none. Threads in
// block_on beside a pool are the reserve: they sleep inside in no other way, and watch only while
// the driver is free, as a worker is better placed to wake tasks.
//
// Threads: any; dispatch by the one that has the driver.
//
// Invariants
//   D1  held_ is written, and line_ and watcher_ are guarded, under lock_.
//   D2  events_ and the poller's results belong to the thread that has the driver.
//   D3  inside_ and wakes_at_ are written by the thread that has the driver; 0 while it does not
//       sleep.
//   D4  While the driver is free and in use, and some thread sleeps, there is a watcher.
//
// Reference: Schmidt et al., "Leader/Followers" (Pattern Languages of Program Design 4, 2000).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/base/cache_line.hpp"
#include "runtime/base/poller.hpp"
#include "runtime/base/shared.hpp"
#include "runtime/base/sync_primitives.hpp"
#include "runtime/driver/registration.hpp"
#include "runtime/driver/wheel.hpp"
#include "runtime/park/parker.hpp"

namespace taskbench::rt::driver {

class Driver final : public park::Sleeper, public base::Shared {
  using Clock = base::Clock;

 public:
  /// The driver of an engine with this many workers, each of which has a wheel.
  explicit Driver(std::uint32_t workers);

  // For sockets and descriptors.

  /// The epoll descriptor; its events carry the address of a Registration. The first call makes it,
  /// and throws std::system_error if it cannot.
  [[nodiscard]] int epoll_descriptor();

  [[nodiscard]] Registrations& registrations() noexcept { return registrations_; }

  // For engines.

  [[nodiscard]] Wheel& wheel(std::uint32_t worker) noexcept { return *wheels_[worker]; }
  /// The wheel of all threads that are not workers.
  [[nodiscard]] Wheel& outside_wheel() noexcept { return *wheels_.back(); }

  [[nodiscard]] bool in_use() const noexcept {
    return in_use_.load(base::relaxed);  // relaxed: a hint; read under lock_ where it must be exact
  }

  [[nodiscard]] bool watches_descriptors() const noexcept { return poller_.is_open(); }

  /// Wakes the tasks that can be woken now, unless a thread sleeps inside and will do so. `own` is
  /// the wheel of the calling worker, or nullptr.
  void look(Wheel* own) noexcept {
    if (__builtin_expect(in_use(), 0)) look_now(own);
  }

  /// Called after each sleep in a parker of this driver: if that ended for events or timers, the
  /// calling thread has the driver, and wakes their tasks here. `own` as in look().
  void dispatch(Wheel* own) noexcept {
    if (has_it()) wake_and_release(own);
  }
  /// Whether the calling thread has the driver, and has to call dispatch().
  [[nodiscard]] bool has_it() const noexcept;

  [[nodiscard]] bool sleep(park::Token& token, std::uint32_t expected,
                           Clock::time_point deadline) noexcept override;
  void wake(const park::Token* token) noexcept override;

  /// The latest time at which to look at the next timer; the end of time: there is none.
  [[nodiscard]] Clock::time_point next_timer() const noexcept { return time_of(next_tick()); }

  /// Where threads of the reserve sleep.
  [[nodiscard]] park::Sleeper& reserve() noexcept { return reserve_; }

  // For wheels.

  [[nodiscard]] Tick tick_before(Clock::time_point time) const noexcept;
  [[nodiscard]] Tick tick_at_or_after(Clock::time_point time) const noexcept;
  [[nodiscard]] Clock::time_point time_of(Tick tick) const noexcept;
  /// Called when a wheel's next() has become earlier, `when`: ends a sleep that would last longer.
  void interrupt(Tick when) noexcept;

 private:
  friend class base::Ref<Driver>;
  ~Driver() = default;

  /// A thread that sleeps outside.
  struct Sleeping;

  class Reserve final : public park::Sleeper {
   public:
    explicit Reserve(Driver& driver) noexcept : driver_(driver) {}
    [[nodiscard]] bool sleep(park::Token& token, std::uint32_t expected,
                             Clock::time_point deadline) noexcept override;
    void wake(const park::Token* token) noexcept override { driver_.wake(token); }

   private:
    Driver& driver_;
  };

  [[nodiscard]] bool sleep_inside(const park::Token& token, std::uint32_t expected,
                                  Clock::time_point deadline) noexcept;
  /// Sleeps until there is a token, or until it is the caller's turn and it has taken the driver:
  /// `takes_it`.
  [[nodiscard]] bool sleep_outside(park::Token& token, std::uint32_t expected,
                                   Clock::time_point deadline, bool reserve,
                                   bool& takes_it) noexcept;
  void begin_use() noexcept;
  void look_now(Wheel* own) noexcept;
  [[nodiscard]] bool try_take() noexcept;
  void wake_and_release(Wheel* own) noexcept;
  void release() noexcept;
  void join_line(Sleeping& self, bool reserve) noexcept TASKBENCH_REQUIRES(lock_);
  void leave_line(Sleeping& self) noexcept TASKBENCH_REQUIRES(lock_);
  /// D4: returns the token to be woken when lock_ has been given up, or nullptr.
  [[nodiscard]] const park::Token* appoint_watcher() noexcept TASKBENCH_REQUIRES(lock_);
  /// Ends the sleep of the thread inside; `inside` is what inside_ held.
  void signal(std::uintptr_t inside) noexcept;
  [[nodiscard]] Tick next_tick() const noexcept;

  const Clock::time_point origin_;
  std::vector<std::unique_ptr<Wheel>> wheels_;
  Reserve reserve_;
  base::Poller poller_;
  Registrations registrations_;
  base::Mutex opening_;  // guards poller_.open()
  base::Atomic<bool> in_use_{false};

  alignas(base::kFalseSharingBytes) base::SpinLock lock_;
  base::Atomic<bool> held_{false};
  /// The threads that sleep outside, a ring; the reserve at its end.
  Sleeping* line_ TASKBENCH_GUARDED_BY(lock_) = nullptr;
  Sleeping* watcher_ TASKBENCH_GUARDED_BY(lock_) = nullptr;  // one of them
  std::size_t events_ = 0;  // unguarded: of the thread that has the driver (D2)
  base::Atomic<const void*> holder_{nullptr};
  base::Atomic<std::uintptr_t> inside_{0};
  base::Atomic<Tick> wakes_at_{0};
  base::Atomic<std::uint32_t> signal_{0};
};

}  // namespace taskbench::rt::driver
