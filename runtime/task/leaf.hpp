// What a task waits on: the innermost awaitable of its chain of coroutines.
//
// When a task is woken the leaf is asked first, and the coroutine is resumed only if the leaf is
// ready: a spurious or stale wake never resumes code that waits for something else.
#pragma once

#include <coroutine>
#include <cstdint>

#include "runtime/task/harness.hpp"

namespace taskbench::rt::task {

/// Base of every awaiter that suspends a task until something wakes it. An awaiter lies in the
/// coroutine frame; it may be destroyed while it waits (abort, shutdown) and must then withdraw.
struct Leaf {
  /// True: ready, resume. False: a wake of `task` is arranged. Holder of the poll right.
  using PollFunction = bool (*)(Leaf*, Header* task);

  explicit Leaf(PollFunction function) noexcept : poll(function) {}

  PollFunction poll;
  std::coroutine_handle<> waiting;
};

inline constexpr std::uintptr_t kLeafTag = 1;

/// The coroutine waits directly: the next poll resumes it.
inline void resume_directly(Header* task, std::coroutine_handle<> waiting) noexcept {
  task->resume = reinterpret_cast<std::uintptr_t>(waiting.address());
}

/// Body of a leaf's await_suspend: polls once, and returns whether to stay suspended.
template <class Promise>
bool suspend_on(Leaf& leaf, std::coroutine_handle<Promise> coroutine) {
  static_assert(
      requires { coroutine.promise().context(); },
      "only a coroutine that returns rt::Task may await this");
  Header* const task = coroutine.promise().context();
  if (leaf.poll(&leaf, task)) return false;
  leaf.waiting = coroutine;
  task->resume = reinterpret_cast<std::uintptr_t>(&leaf) | kLeafTag;
  return true;
}

}  // namespace taskbench::rt::task
