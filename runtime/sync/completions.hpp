// The list of the members of a JoinSet that have completed, in that order.
//
// Threads: the thread that completes a member reports its end; the rest is for the owner of the
// set.
//
// The list is the join listener of each member. The set holds the members' JoinHandles, so a
// complete member stays in memory until the set lets go of it, and the list can be linked through
// the headers.
//
// Invariants
//   D1  Everything here, and Header::queue_next of a member in the list, is guarded by mutex_.
//   D2  A member is in the list at most once, only after it has completed, and never after
//       abandon(); so the set may drop its members' handles from then on.
//   D3  waiter_ owns a counted reference to the task that waits in NextDone. The thread that
//       reports an end takes it out and wakes the task.
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

  /// The member that completed first, or nullptr.
  [[nodiscard]] task::Header* front() noexcept;
  /// Removes the member that front() returned.
  void pop_front() noexcept;
  /// Leaves out members that complete later.
  void abandon() noexcept;

 private:
  void on_complete(task::Header* member) noexcept override;
  void on_detach() noexcept override;

  base::Mutex mutex_;
  bool abandoned_ TASKBENCH_GUARDED_BY(mutex_) = false;
  task::Header* first_ TASKBENCH_GUARDED_BY(mutex_) = nullptr;
  task::Header* last_ TASKBENCH_GUARDED_BY(mutex_) = nullptr;
  /// The waiting NextDone, until it has seen why it was woken.
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
