// Tells many tasks to stop, for good.
//
//   rt::CancellationToken stop;
//   rt::spawn(serve(stop.child()));
//   ...
//   stop.cancel();
//
// A task notices by calling is_cancelled() now and then, or by awaiting cancelled(), usually as a
// branch of a select(). Nothing is aborted: a task ends where it wants to.
//
// Copies of a token are the same token. A child is cancelled with its ancestors, never the other
// way round; this holds even when all tokens in between are gone.
//
// Threads: all functions from any thread; cancelled() is awaited by a task.
//
// Invariants
//   C1  The tree and the waiting lists of all its nodes are guarded by the mutex of its root.
//   C2  Every node below a cancelled node is cancelled; one made later is cancelled from the start.
//   C3  A node leaves the tree in its destructor; its children become those of its parent. The root
//       stays while there is any node below it.
//
// Rejected: a mutex for each node, as Tokio has (a node that is cancelled from above while it is
// destroyed needs two counts, and locks taken in the order of the tree; take it when a profile
// shows contention between tokens of one tree); callbacks (they would run on the thread that
// cancels).
#pragma once

#include <coroutine>
#include <utility>

#include "runtime/base/assert.hpp"
#include "runtime/base/shared.hpp"
#include "runtime/base/sync_primitives.hpp"
#include "runtime/sync/wait_list.hpp"
#include "runtime/task/leaf.hpp"

namespace taskbench::rt {

namespace sync::detail {

/// A node of the tree: what the copies of a token share.
class Cancellation : public base::Shared {
 public:
  class Wait;

  /// The root of a new tree, or a child of `parent`.
  explicit Cancellation(Cancellation* parent = nullptr) noexcept;
  ~Cancellation();

  void cancel() noexcept;
  [[nodiscard]] bool is_cancelled() const noexcept {
    // acquire: pairs with the release in cancel_all_below()
    return cancelled_.load(base::acquire);
  }

 private:
  [[nodiscard]] base::Mutex& mutex() noexcept { return root_ == nullptr ? mutex_ : root_->mutex_; }
  // With the mutex held. Unchecked: the analysis does not know that all nodes share one mutex.
  void link_into(Cancellation& parent) noexcept TASKBENCH_UNCHECKED;
  void unlink() noexcept TASKBENCH_UNCHECKED;
  void cancel_all_below(WaitList& released) noexcept TASKBENCH_UNCHECKED;
  [[nodiscard]] task::Header* withdraw(Waiter& waiter) noexcept TASKBENCH_REQUIRES(mutex());

  const base::Ref<Cancellation> root_;  // null in the root itself
  base::Mutex mutex_;                   // of the root: guards everything below, in all nodes (C1)
  Cancellation* parent_ TASKBENCH_GUARDED_BY(mutex()) = nullptr;
  Cancellation* first_child_ TASKBENCH_GUARDED_BY(mutex()) = nullptr;
  Cancellation* previous_ TASKBENCH_GUARDED_BY(mutex()) = nullptr;  // among its siblings
  Cancellation* next_ TASKBENCH_GUARDED_BY(mutex()) = nullptr;
  WaitList waiting_ TASKBENCH_GUARDED_BY(mutex());
  base::Atomic<bool> cancelled_{false};  // read without the mutex, too
};

/// What cancelled() returns, to be awaited by one coroutine at a time, also in branches of one
/// task.
class [[nodiscard]] Cancellation::Wait : private task::Leaf, private Waiter {
 public:
  explicit Wait(base::Ref<Cancellation> node) noexcept
      : Leaf(&Wait::poll_cancelled), node_(std::move(node)) {}
  ~Wait() {
    if (waits_) give_up();
  }
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

  bool await_ready() const noexcept { return node_->is_cancelled(); }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> coroutine) {
    return task::suspend_on(*this, coroutine);
  }
  void await_resume() const noexcept {}

 private:
  static bool poll_cancelled(task::Leaf* leaf, task::Header* task) noexcept;
  void give_up() noexcept;

  const base::Ref<Cancellation> node_;
  bool waits_ = false;  // was queued; its own task only
};

}  // namespace sync::detail

class CancellationToken {
 public:
  /// A token that is cancelled by its own cancel() alone. Throws std::bad_alloc.
  CancellationToken() : CancellationToken(nullptr) {}

  /// A token that is cancelled with this one, or by itself. Throws std::bad_alloc.
  [[nodiscard]] CancellationToken child() const { return CancellationToken(&node()); }

  /// Cancels this token and those below it, and wakes the tasks that wait. Once is enough.
  void cancel() const noexcept { node().cancel(); }
  /// Whether the token is cancelled. If so, everything done before the cancel() is visible.
  [[nodiscard]] bool is_cancelled() const noexcept { return node().is_cancelled(); }

  /// co_await waits for cancel(). Cancellation-safe: a wait that is given up leaves nothing behind.
  [[nodiscard]] sync::detail::Cancellation::Wait cancelled() const noexcept {
    return sync::detail::Cancellation::Wait(base::Ref(&node()));
  }

 private:
  explicit CancellationToken(sync::detail::Cancellation* parent)
      : node_(new sync::detail::Cancellation(parent)) {}
  [[nodiscard]] sync::detail::Cancellation& node() const noexcept {
    TASKBENCH_ASSERT(node_ != nullptr, "the token was moved from");
    return *node_;
  }

  base::Ref<sync::detail::Cancellation> node_;
};

}  // namespace taskbench::rt
