// The poll of a task, for a loop over tasks that is to have it inlined. The poll of a task that
// yields is so short that a call is a good part of it.
//
// Threads: for the holder of the poll right.
#pragma once

#include <coroutine>
#include <utility>

#include "runtime/task/harness.hpp"
#include "runtime/task/leaf.hpp"

namespace taskbench::rt::task {

/// Asks the leaf, if there is one. True: the coroutine, whose address is returned in `coroutine`,
/// has to be resumed, as the leaf has forgotten it.
[[gnu::always_inline]] inline bool leaf_is_ready(Header* task, void*& coroutine) noexcept {
  if ((task->resume & kLeafTag) == 0) {
    coroutine = reinterpret_cast<void*>(task->resume);
    return true;
  }
  Leaf* const leaf = reinterpret_cast<Leaf*>(task->resume & ~kLeafTag);
  if (!leaf->poll(leaf, task)) return false;
  coroutine = std::exchange(leaf->waiting, nullptr).address();
  return true;
}

/// Lets the coroutine go on if its leaf is ready. `before`: the disposition of a poll that does
/// nothing else. Always inlined, so that the poll of a task costs no more than without branches.
[[gnu::always_inline]] inline Disposition go_on(Header* task, Disposition before) noexcept {
  task->disposition = before;
  void* coroutine = nullptr;
  if (leaf_is_ready(task, coroutine)) {
    task->resume = 0;
    std::coroutine_handle<>::from_address(coroutine).resume();
  }
  return task->disposition;
}

/// The end of a poll in which the task has not yielded; `ended` is its disposition.
[[nodiscard]] Polled end_poll(Header* task, Disposition ended) noexcept;

/// poll(), inlined as far as it goes if the task yields.
[[nodiscard, gnu::always_inline]] inline Polled poll_inline(Header* task) noexcept {
  if (task->state.start_poll() == State::Start::cancel) [[unlikely]] {
    cancel(task);
    return Polled::finished;
  }
  const Disposition ended = go_on(task, Disposition::pending);
  return ended == Disposition::yielded ? Polled::yielded : end_poll(task, ended);
}

}  // namespace taskbench::rt::task
