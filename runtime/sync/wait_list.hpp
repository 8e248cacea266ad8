// A queue of tasks that wait for their turn at a sync primitive, first come first served.
//
// A Waiter lies in the awaiter, thus in the waiting task's coroutine frame: queueing allocates
// nothing. Everything here is guarded by the mutex of the primitive that owns the list, and every
// function must be called with it held; only WakeBatch::wake_all is called without it.
//
// A wake hands over what was waited for: the primitive takes the waiter out of the list, marks it
// granted, and wakes its task afterwards. An awaiter that is destroyed while it is queued leaves
// the list; one that is destroyed after it was granted, but before its task saw that, must pass the
// grant on (each primitive does so in its awaiter's destructor). So a grant to a task that is being
// aborted is not lost.
//
// Invariants
//   W1  A waiter is in a list exactly while its place is `queued`.
//   W2  A queued waiter owns one counted reference to the task that polled it last. The thread that
//       takes it out of the list, or polls it for another task, gets that reference, and wakes or
//       drops it once the mutex is released. So a wake that comes after the task has ended touches
//       no freed memory.
//   W3  Once the place is `granted` or `dismissed` only the waiter's own task writes it.
//
// Rejected: a waker per waiter (two more words and an indirect call); waking under the mutex (the
// woken task would run into it at once on another worker); barging, where a woken task has to win
// the resource against newcomers (it may starve).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "runtime/base/assert.hpp"
#include "runtime/task/harness.hpp"

namespace taskbench::rt::sync::detail {

/// A place in a WaitList. Stays where it is while it is queued.
class Waiter {
 public:
  enum class Place : std::uint8_t {
    outside,    ///< in no list, and nothing was handed over
    queued,     ///< in a list
    granted,    ///< taken out of the list, with what was waited for
    dismissed,  ///< taken out of the list, with nothing to pass on
  };

  Waiter() = default;
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  [[nodiscard]] Place place() const noexcept { return place_; }

  /// Settles a waiter that is in no list: it got, or did not get, what it wanted without queueing.
  void settle(Place place) noexcept {
    TASKBENCH_ASSERT(place_ != Place::queued, "a queued waiter is settled by its list (W1)");
    place_ = place;
  }

 private:
  friend class WaitList;

  Waiter* previous_ = nullptr;
  Waiter* next_ = nullptr;
  task::Header* task_ = nullptr;  // a counted reference while queued (W2)
  Place place_ = Place::outside;
};

class WaitList {
 public:
  WaitList() noexcept { ends_.previous_ = ends_.next_ = &ends_; }
  ~WaitList() {
    TASKBENCH_ASSERT(empty(), "a sync primitive must outlive the tasks that wait for it");
  }
  WaitList(const WaitList&) = delete;
  WaitList& operator=(const WaitList&) = delete;

  [[nodiscard]] bool empty() const noexcept { return ends_.next_ == &ends_; }

  /// The waiter that has waited longest; the list must not be empty.
  [[nodiscard]] Waiter& front() noexcept { return *ends_.next_; }

  /// Queues a waiter that is in no list. `task` is the task that this thread polls.
  void push_back(Waiter& waiter, task::Header* task) noexcept { put_before(ends_, waiter, task); }
  /// Queues a waiter that was taken out but must wait on: it keeps its place at the front.
  void push_front(Waiter& waiter, task::Header* task) noexcept {
    put_before(front(), waiter, task);
  }

  /// Takes out the first with its grant. The caller wakes what is returned (W2).
  [[nodiscard]] task::Header* grant_front() noexcept {
    return take_out(front(), Waiter::Place::granted);
  }

  /// Takes out the first without a grant. The caller wakes what is returned (W2).
  [[nodiscard]] task::Header* dismiss_front() noexcept {
    return take_out(front(), Waiter::Place::dismissed);
  }

  /// Takes a queued waiter out of whichever list it is in. The caller drops what is returned (W2).
  [[nodiscard]] static task::Header* withdraw(Waiter& waiter) noexcept {
    return take_out(waiter, Waiter::Place::outside);
  }

  /// Lets a queued waiter wake `task`, which this thread polls, though another may have queued it.
  /// The caller drops what is returned (W2), if it is not null.
  [[nodiscard]] static task::Header* pass_to(Waiter& waiter, task::Header* task) noexcept {
    if (waiter.task_ == task) return nullptr;
    return std::exchange(waiter.task_, task::reference_in_poll(task));
  }

  /// Moves all waiters of `other` behind those of this list, in their order.
  void append(WaitList& other) noexcept {
    if (other.empty()) return;
    Waiter* const first = other.ends_.next_;
    Waiter* const last = other.ends_.previous_;
    other.ends_.previous_ = other.ends_.next_ = &other.ends_;
    first->previous_ = ends_.previous_;
    ends_.previous_->next_ = first;
    last->next_ = &ends_;
    ends_.previous_ = last;
  }

 private:
  static void put_before(Waiter& next, Waiter& waiter, task::Header* task) noexcept {
    TASKBENCH_ASSERT(waiter.place_ != Waiter::Place::queued, "a waiter is queued once (W1)");
    waiter.task_ = task::reference_in_poll(task);
    waiter.place_ = Waiter::Place::queued;
    waiter.previous_ = next.previous_;
    waiter.next_ = &next;
    waiter.previous_->next_ = &waiter;
    next.previous_ = &waiter;
  }
  static task::Header* take_out(Waiter& waiter, Waiter::Place place) noexcept {
    TASKBENCH_ASSERT(waiter.place_ == Waiter::Place::queued, "the waiter is in no list (W1)");
    waiter.previous_->next_ = waiter.next_;
    waiter.next_->previous_ = waiter.previous_;
    waiter.place_ = place;
    return waiter.task_;
  }

  Waiter ends_;  // closes the ring; is no waiter itself
};

/// A reference taken out of a list under a mutex, to be dropped without it: declare it before the
/// lock.
class Dropped {
 public:
  Dropped() = default;
  ~Dropped() {
    if (task_ != nullptr) task::drop_reference(task_);
  }
  Dropped(const Dropped&) = delete;
  Dropped& operator=(const Dropped&) = delete;

  /// `task`: a reference that is given up, or nullptr. Once only.
  void set(task::Header* task) noexcept { task_ = task; }

 private:
  task::Header* task_ = nullptr;
};

/// Tasks taken out of lists under a mutex, to be woken without it. Its size is fixed, so that
/// waking cannot fail; a caller with more tasks to wake takes the mutex again.
class WakeBatch {
 public:
  WakeBatch() = default;
  ~WakeBatch() { TASKBENCH_ASSERT(count_ == 0, "a batch is woken by whoever has filled it"); }
  WakeBatch(const WakeBatch&) = delete;
  WakeBatch& operator=(const WakeBatch&) = delete;

  [[nodiscard]] bool full() const noexcept { return count_ == tasks_.size(); }

  /// `task`: a reference that is given up, or nullptr. The batch is not full.
  void add(task::Header* task) noexcept {
    if (task != nullptr) tasks_[count_++] = task;
  }

  /// Call it without the mutex. The primitive may be gone.
  void wake_all() noexcept {
    for (std::size_t i = 0; i < count_; ++i) task::wake(tasks_[i]);
    count_ = 0;
  }

 private:
  std::array<task::Header*, 32> tasks_;
  std::size_t count_ = 0;
};

}  // namespace taskbench::rt::sync::detail
