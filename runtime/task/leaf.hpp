// A leaf is what a task waits on: the innermost awaitable of its chain of coroutines.
//
// When a task is woken, the leaf is asked first, and the coroutine is resumed only if the leaf is
// ready: a spurious or stale wake-up never resumes code that waits for something else.
#pragma once

#include <coroutine>
#include <cstdint>

#include "runtime/base/assert.hpp"
#include "runtime/task/harness.hpp"

namespace taskbench::rt::task {

/// Base of every awaiter that suspends a task until something wakes it. An awaiter lies in the
/// coroutine frame; it may be destroyed while it waits (abort, shutdown) and must then withdraw. It
/// is awaited by one coroutine at a time, also in branches of one task; once that has gone on or
/// was given up, another may await it.
struct Leaf {
  /// Asks whether to resume the coroutine. False: a wake-up of `task` is arranged. For the holder
  /// of the poll right.
  using PollFunction = bool (*)(Leaf*, Header* task);

  explicit Leaf(PollFunction function) noexcept : poll(function) {}

  PollFunction poll;
  std::coroutine_handle<> waiting;  // null once it is to go on, or was given up
};

inline constexpr std::uintptr_t kLeafTag = 1;

/// Lets the next poll resume the coroutine.
inline void resume_directly(Header* task, std::coroutine_handle<> waiting) noexcept {
  task->resume = reinterpret_cast<std::uintptr_t>(waiting.address());
}

/// Lets the next poll ask the leaf first.
inline void resume_when_ready(Header* task, Leaf& leaf, std::coroutine_handle<> waiting) noexcept {
  TASKBENCH_ASSERT(!leaf.waiting,
                   "what waits is awaited by one coroutine at a time, also in branches of a task");
  leaf.waiting = waiting;
  task->resume = reinterpret_cast<std::uintptr_t>(&leaf) | kLeafTag;
}

// Whether a co_await that returns a coroutine's handle goes there by a tail call. g++ makes one
// when it optimises (at -O1 and -Og only with -foptimize-sibling-calls, which the package sets) and
// no sanitizer has work left after the call; clang always does. However, clang before 19 stores the
// handle in the coroutine's frame first where it does not optimise, or where a sanitizer keeps it
// from doing so (LLVM issue 72006); the frame of a fork that was stolen may be gone by then. Define
// it as 0 if your flags prevent tail calls, such as -fno-optimize-sibling-calls or
// -finstrument-functions, or for -O1 of clang 18 and before. Units of a program may differ in this.
#if !defined(TASKBENCH_TAIL_CALLS)
#if !defined(__clang__)
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_HWADDRESS__)
#define TASKBENCH_TAIL_CALLS 1
#endif
#else
#if __clang_major__ >= 19 ||                                                    \
    (defined(__OPTIMIZE__) && !__has_feature(address_sanitizer) &&              \
     !__has_feature(thread_sanitizer) && !__has_feature(hwaddress_sanitizer) && \
     !__has_feature(memory_sanitizer) && !__has_feature(undefined_behavior_sanitizer))
#define TASKBENCH_TAIL_CALLS 1
#endif
#endif
#if !defined(TASKBENCH_TAIL_CALLS)
#define TASKBENCH_TAIL_CALLS 0
#endif
#endif

/// The result for an await_suspend in a coroutine of `task` after which `next`, another coroutine
/// of the task, goes on. Without tail calls each such step would take some stack, and a loop of
/// awaits makes many: then the coroutine suspends, and the poll resumes `next` (docs/adr/0031). The
/// caller names `by_tail_call` in a template argument of its own, so that units that differ in it
/// never share a function.
template <bool by_tail_call>
std::coroutine_handle<> transfer_to(std::coroutine_handle<> next, Header* task) noexcept {
  if constexpr (by_tail_call) {
    return next;
  } else {
    task->queue_next = static_cast<Header*>(next.address());
    task->flags |= Header::kTransfers;
    return std::noop_coroutine();
  }
}

/// The task that a coroutine runs in.
template <class Promise>
[[nodiscard]] Header* task_of(std::coroutine_handle<Promise> coroutine) noexcept {
  static_assert(
      requires { coroutine.promise().context(); },
      "only a coroutine that returns rt::Task may await this");
  return coroutine.promise().context();
}

/// Body of a leaf's await_suspend: polls once, and returns whether to stay suspended.
template <class Promise>
bool suspend_on(Leaf& leaf, std::coroutine_handle<Promise> coroutine) {
  Header* const task = task_of(coroutine);
  if (leaf.poll(&leaf, task)) return false;
  resume_when_ready(task, leaf, coroutine);
  return true;
}

/// suspend_on() for a leaf that may be ready again and again: if the budget is spent, the task
/// yields first, and its next poll asks the leaf.
template <class Promise>
bool suspend_with_budget(Leaf& leaf, std::coroutine_handle<Promise> coroutine) {
  Header* const task = task_of(coroutine);
  if (spend_budget(task)) return suspend_on(leaf, coroutine);
  resume_when_ready(task, leaf, coroutine);
  return true;
}

}  // namespace taskbench::rt::task
