// What a task cost in Tokio's first scheduler beyond its polls: a second allocation, and a counted
// reference for each entry into a queue. tokio01 and the lower rungs of the ladder pay for them.
//
// Threads: the functions by the holder of the task's poll right; leave_queue() by the thread that
// took the task out of the queue.
//
// Invariant
//   T5  A cell is freed with its last reference. One reference is the task's life: a worker drops
//       it after the poll that ended the task; the drain drops it in disown() or, for a task that
//       was never idle, after cancelling it. Each entry into a queue is another, where these are
//       counted.
#pragma once

#include <cstdint>
#include <new>

#include "runtime/base/sync_primitives.hpp"
#include "runtime/task/context.hpp"
#include "runtime/task/frame_cache.hpp"
#include "runtime/task/harness.hpp"
#include "runtime/task/header.hpp"
#include "runtime/task/poll.hpp"
#include "runtime/task/schedule.hpp"

namespace taskbench::rt::scheduler {

/// The task as Tokio had it: a struct of its own, which holds the future and takes the wakes.
class TaskCell final : public task::Schedule {
 public:
  explicit TaskCell(task::Spawner& engine) noexcept : engine_(engine) {}

  void schedule(task::Header* task) noexcept override { engine_.schedule(task); }
  void adopt(task::Header* task) noexcept override {
    was_idle = true;
    engine_.adopt(task);
  }
  void disown(task::Header* task) noexcept override {
    engine_.disown(task);
    const task::ThreadContext& context = task::thread_context();
    const bool is_worker = context.scheduler == &engine_ && context.worker != nullptr;
    if (!is_worker) drop();  // T5: found by the drain
  }

  [[nodiscard]] base::Ref<task::UnhandledExceptions> unhandled_exceptions()
      const noexcept override {
    return engine_.unhandled_exceptions();
  }

  void add() noexcept {
    references_.fetch_add(1, base::relaxed);  // relaxed: another reference stays meanwhile
  }
  void drop() noexcept {
    // acq_rel: pairs with itself: all that its other holders did comes before the end
    if (references_.fetch_sub(1, base::acq_rel) != 1) return;
    this->~TaskCell();
    task::deallocate_block(this, kUnits);
  }

  static constexpr std::uint32_t kUnits = 2;

  bool was_idle = false;  // belongs to the holder of the poll right

 private:
  task::Spawner& engine_;
  base::Atomic<std::uint32_t> references_{1};
};

/// What "Making the Tokio scheduler 10x faster" (2019) counts.
/// `kAllocatesTwice`: "The old scheduler needed two allocations per task": the future, and the
/// struct that holds it.
/// Always: "When the task is woken, the reference is cloned (an atomic increment) and pushed into
/// the run queue. When the processor has run the task it drops the reference: an atomic decrement."
template <bool kAllocatesTwice>
struct TaskCosts {
  /// Called for a new task, before it is queued for the first time.
  static void begin(task::Header* task, task::Spawner& engine) noexcept {
    if constexpr (kAllocatesTwice) {
      task->scheduler = new (task::allocate_block(TaskCell::kUnits)) TaskCell(engine);
    }
  }

  /// Called before a poll, which may free the task.
  static TaskCell* cell_of(task::Header* task) noexcept {
    return kAllocatesTwice ? static_cast<TaskCell*>(task->scheduler) : nullptr;
  }

  /// Called before the task is in the queue, where another thread may take it.
  static void enter_queue(task::Header* task) noexcept {
    if (TaskCell* cell = cell_of(task)) {
      cell->add();
    } else {
      task::add_reference(task);
    }
  }

  /// Called after the poll for which the task was taken out.
  static void leave_queue(task::Header* task, TaskCell* cell, bool has_finished) noexcept {
    if (cell == nullptr) {
      task::drop_reference(task);
      return;
    }
    if (has_finished) cell->drop();
    cell->drop();
  }

  /// Polls a task that was taken out of a queue. If it goes back into one, its entry is counted
  /// already.
  static task::Polled poll(task::Header* task) noexcept {
    TaskCell* const cell = cell_of(task);
    const task::Polled polled = task::poll_inline(task);
    const bool goes_back = polled == task::Polled::yielded || polled == task::Polled::woken;
    if (goes_back) enter_queue(task);
    leave_queue(task, cell, polled == task::Polled::finished);
    return polled;
  }

  /// Cancels a task that was taken out of a queue by the drain.
  static void cancel(task::Header* task) noexcept {
    TaskCell* const cell = cell_of(task);
    const bool was_idle = cell != nullptr && cell->was_idle;  // then disown() drops its life
    if (cell == nullptr) leave_queue(task, nullptr, false);   // not the last, as it has not ended
    task::cancel(task);
    if (cell != nullptr) leave_queue(task, cell, !was_idle);
  }
};

}  // namespace taskbench::rt::scheduler
