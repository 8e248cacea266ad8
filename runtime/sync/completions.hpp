// The list in which the members of a JoinSet report that they are done, in that order.
//
// Threads: report from any thread, once per member; the rest by the one that owns the set.
//
// A member reports when its coroutine is destroyed, whatever ended it: its return, an exception,
// an abort before or after its first poll, the end of its runtime. That is a moment before its
// task counts as complete; who needs the output still awaits the JoinHandle.
//
// Invariants
//   D1  Everything here, and Member::next_done, is guarded by mutex_.
//   D2  A member is in the list at most once, only after it was counted, and never after abandon();
//       so the set may free its members from then on.
//   D3  waiter_ owns a counted reference to the task that waits in NextDone. Whoever reports takes
//       it out and wakes the task.
#pragma once

#include <coroutine>
#include <utility>

#include "runtime/base/shared.hpp"
#include "runtime/base/sync_primitives.hpp"
#include "runtime/task/leaf.hpp"

namespace taskbench::rt::sync::detail {

class Completions : public base::Shared {
 public:
  /// What the list holds; the set's entry derives from it.
  struct Member {
    Member* next_done = nullptr;
    bool counted = false;  ///< the set has it; written before the member is spawned
  };

  class NextDone;

  ~Completions();

  void report(Member* member) noexcept;

  /// The member that was done first, or nullptr.
  [[nodiscard]] Member* front() noexcept;
  /// Takes out what front() returned.
  void pop_front() noexcept;
  /// Members that are not done yet will not report any more.
  void abandon() noexcept;

 private:
  base::Mutex mutex_;
  bool abandoned_ = false;
  Member* first_ = nullptr;
  Member* last_ = nullptr;
  task::Header* waiter_ = nullptr;
};

/// co_await waits until some member is done and returns it, leaving it in the list.
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
  Member* await_resume() const noexcept { return done_; }

 private:
  static bool poll_done(task::Leaf* leaf, task::Header* task) noexcept;
  void give_up() noexcept;

  Completions& completions_;
  Member* done_ = nullptr;
  bool waits_ = false;  // left a reference in waiter_, which may have been taken since
};

/// Reports a member when it is destroyed. Lies in the member's frame, so as to be destroyed last.
class Reporter {
 public:
  Reporter(base::Ref<Completions> completions, Completions::Member* member) noexcept
      : completions_(std::move(completions)), member_(member) {}
  Reporter(Reporter&&) noexcept = default;
  Reporter& operator=(Reporter&&) = delete;
  ~Reporter() {
    if (completions_ != nullptr) completions_->report(member_);
  }

 private:
  base::Ref<Completions> completions_;  // null once moved from
  Completions::Member* member_;
};

}  // namespace taskbench::rt::sync::detail
