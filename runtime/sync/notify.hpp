// Tells tasks that something has happened, without saying what.
//
// Threads: notify_one, notify_waiters and notified may be called from any thread; a task awaits
// what notified() returns. The Notify must outlive its waiters.
//
//   notify_one      ends one wait: that of the task that has waited longest or, if none waits, the
//                   next one. At most one notification is stored, however many are sent.
//   notify_waiters  ends the waits of all earlier calls of notified(), awaited already or not;
//                   stores nothing for later.
//
// So a task that calls notified(), then checks the state it waits for, and only then awaits, misses
// neither kind.
//
// Invariants
//   N1  Everything here is guarded by mutex_.
//   N2  has_permit_ stands only while waiting_ is empty.
//   N3  A wait belongs to the round in which notified() was called. Queued waits of the current
//       round are in waiting_, those of earlier rounds in released_.
//   N4  A notification of notify_one reaches one wait of the round it was sent in, or is stored: a
//       wait that is given up after it was chosen passes it on.
#pragma once

#include <coroutine>
#include <cstdint>

#include "runtime/base/sync_primitives.hpp"
#include "runtime/sync/wait_list.hpp"
#include "runtime/task/leaf.hpp"

namespace taskbench::rt::sync {

class Notify {
 public:
  class Notified;

  Notify() = default;
  Notify(const Notify&) = delete;
  Notify& operator=(const Notify&) = delete;

  /// co_await waits for a notification. Cancellation-safe (N4), but the place in the queue is lost.
  [[nodiscard]] Notified notified() noexcept;

  void notify_one() noexcept;
  void notify_waiters() noexcept;

 private:
  [[nodiscard]] task::Header* choose_one() noexcept TASKBENCH_REQUIRES(mutex_);
  [[nodiscard]] std::uint64_t round() const noexcept {
    base::LockGuard lock(mutex_);
    return round_;
  }

  mutable base::Mutex mutex_;
  std::uint64_t round_ TASKBENCH_GUARDED_BY(mutex_) = 0;  // calls of notify_waiters so far
  bool has_permit_ TASKBENCH_GUARDED_BY(mutex_) = false;
  detail::WaitList waiting_ TASKBENCH_GUARDED_BY(mutex_);
  /// The waiters that a notify_waiters under way has yet to wake.
  detail::WaitList released_ TASKBENCH_GUARDED_BY(mutex_);
};

/// What notified() returns. It may be kept before it is awaited; once notified it stays so. It is
/// awaited by one coroutine at a time, also in branches of one task; another may go on with a wait
/// that was given up.
class [[nodiscard]] Notify::Notified : private task::Leaf, private detail::Waiter {
 public:
  explicit Notified(Notify& notify) noexcept
      : Leaf(&Notified::poll_notified), notify_(notify), round_(notify.round()) {}
  ~Notified() {
    if (waits_) give_up();
  }
  Notified(const Notified&) = delete;
  Notified& operator=(const Notified&) = delete;

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> coroutine) {
    return task::suspend_with_budget(*this, coroutine);
  }
  void await_resume() const noexcept {}

 private:
  static bool poll_notified(task::Leaf* leaf, task::Header* task) noexcept;
  void give_up() noexcept;

  Notify& notify_;
  const std::uint64_t round_;
  bool waits_ = false;  // was queued, and has not seen the outcome; its own task only
};

inline Notify::Notified Notify::notified() noexcept { return Notified(*this); }

}  // namespace taskbench::rt::sync
