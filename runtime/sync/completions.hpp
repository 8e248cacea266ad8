// The list of the members of a JoinSet that have completed, in that order.
//
// Threads: a member's end is reported by whichever thread completes it; the rest is for the one
// that owns the set.
//
// The list is the join listener of each member, whose JoinHandle the set has. So a complete member
// stays where it is until the set lets go of it, and the list is linked through the headers.
//
// Invariants
//   D1  Everything here, and Header::queue_next of a member in the list, is guarded by mutex_.
//   D2  A member is in the list at most once, only once it is complete, and never after abandon();
//       so the set may drop the handles of its members from then on.
//   D3  waiter_ owns a counted reference to the task that waits in NextDone. Whoever reports takes
//       it out and wakes the task.
#pragma once

#include <coroutine>

#include "runtime/base/shared.hpp"
#include "runtime/base/sync_primitives.hpp"
#include "runtime/task/leaf.hpp"

namespace taskbench::rt::sync::detail {

class Completions final : public task::JoinListener, public base::Shared {
 public:
  class NextDone;

  ~Completions();

  /// Begins to listen to a task that was spawned.
  void watch(task::Header* member) noexcept;

  /// The member that was complete first, or nullptr.
  [[nodiscard]] task::Header* front() noexcept;
  /// Takes out what front() returned.
  void pop_front() noexcept;
  /// Adds no member any more that completes later.
  void abandon() noexcept;

 private:
  void on_complete(task::Header* member) noexcept override;
  void on_detach() noexcept override;

  base::Mutex mutex_;
  bool abandoned_ TASKBENCH_GUARDED_BY(mutex_) = false;
  task::Header* first_ TASKBENCH_GUARDED_BY(mutex_) = nullptr;
  task::Header* last_ TASKBENCH_GUARDED_BY(mutex_) = nullptr;
  /// The await that waits, until it has seen why it was woken.
  const NextDone* waiting_ TASKBENCH_GUARDED_BY(mutex_) = nullptr;
  task::Header* waiter_ TASKBENCH_GUARDED_BY(mutex_) = nullptr;
};

/// co_await waits until some member is complete and returns it, leaving it in the list.
class [[nodiscard]] Completions::NextDone : private task::Leaf {
 public:
  explicit NextDone(Completions& completions) noexcept
      : Leaf(&NextDone::poll_done), completions_(completions) {}
  ~NextDone() {
    if (waits_) give_up();
  }
  NextDone(const NextDone&) = delete;
  NextDone& operator=(const NextDone&) = delete;

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> coroutine) {
    return task::suspend_with_budget(*this, coroutine);
  }
  task::Header* await_resume() const noexcept { return done_; }

 private:
  static bool poll_done(task::Leaf* leaf, task::Header* task) noexcept;
  void give_up() noexcept;

  Completions& completions_;
  task::Header* done_ = nullptr;
  bool waits_ = false;  // is the one in Completions::waiting_
};

}  // namespace taskbench::rt::sync::detail
