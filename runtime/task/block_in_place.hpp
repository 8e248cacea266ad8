// block_in_place(): marks a call that blocks the thread.
#pragma once

#include <utility>

#include "runtime/task/context.hpp"

namespace taskbench::rt {

namespace task {

/// A blocking section of the task that the calling thread polls, if there is one.
class BlockingSection {
 public:
  BlockingSection() noexcept
      : scheduler_(thread_context().scheduler),
        marked_(scheduler_ != nullptr && scheduler_->begin_blocking()) {}
  ~BlockingSection() {
    if (marked_) scheduler_->end_blocking();
  }
  BlockingSection(const BlockingSection&) = delete;
  BlockingSection& operator=(const BlockingSection&) = delete;

 private:
  Spawner* const scheduler_;
  const bool marked_;
};

}  // namespace task

/// Calls `function`, which may block the thread, and returns what it returns. The scheduler `go`
/// lets another thread run the worker's other tasks when it takes longer than 20 us; with the other
/// schedulers they wait. Anywhere else it is a plain call. `function` may spawn and wake tasks.
template <class Function>
decltype(auto) block_in_place(Function&& function) {
  const task::BlockingSection section;
  return std::forward<Function>(function)();
}

}  // namespace taskbench::rt
