// The end of an engine: every task is cancelled, wherever it is.
#pragma once

#include "runtime/base/sync_primitives.hpp"
#include "runtime/scheduler/engine.hpp"
#include "runtime/task/context.hpp"
#include "runtime/task/owned_tasks.hpp"

namespace taskbench::rt::scheduler {

/// Cancels every task of `engine`, including those on their way to a queue. `cancel_queued` cancels
/// all tasks queued at the moment, and returns false if there was none and no new one can come.
/// Call it once the engine is closed, from one thread, while no worker runs.
template <class OwnedTasks, class CancelQueued>
void drain(Engine& engine, OwnedTasks& owned, CancelQueued&& cancel_queued) noexcept {
  // Destructors of tasks may spawn (refused) and wake (queued) on this thread.
  const task::EnterContext enter(&engine, nullptr);
  for (;;) {
    owned.cancel_idle();
    cancel_queued();
    // A task that is still owned is on its way to a queue, in the hands of a thread that woke it.
    if (owned.empty() && !cancel_queued()) return;
    base::yield_thread();
  }
}

}  // namespace taskbench::rt::scheduler
