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
        begun_(scheduler_ != nullptr ? scheduler_->begin_blocking() : nullptr) {}
  ~BlockingSection() {
    if (begun_ != nullptr) scheduler_->end_blocking(begun_);
  }
  BlockingSection(const BlockingSection&) = delete;
  BlockingSection& operator=(const BlockingSection&) = delete;

 private:
  Spawner* const scheduler_;
  void* const begun_;
};

}  // namespace task

/// Calls `function`, which may block the thread, and returns what it returns. The schedulers
/// work_stealing and go let another thread run the worker's other tasks when the call takes longer
/// than 20 us; with the others, and in block_on, it is a plain call. In work_stealing these
/// threads are limited by Builder::max_blocking_threads, too; if none is left, the call keeps its
/// worker until one is free. `function` may spawn and wake tasks. Calls that may block for long are
/// better given to rt::spawn_blocking, with any scheduler.
template <class Function>
decltype(auto) block_in_place(Function&& function) {
  const task::BlockingSection section;
  return std::forward<Function>(function)();
}

}  // namespace taskbench::rt
