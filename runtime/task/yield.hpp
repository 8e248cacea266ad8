// yield_now(): goes to the back of the worker's queue.
//
// Tasks that yield stay level: one that is behind the others of its runtime is polled again at once
// a few times, until it has caught up; see runtime/scheduler/work_stealing/rounds.hpp.
#pragma once

#include <coroutine>

#include "runtime/task/leaf.hpp"

namespace taskbench::rt {

/// Costs no transition of the task's state: the poll right goes straight to the back of the queue.
struct [[nodiscard]] YieldNow {
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> coroutine) const noexcept {
    static_assert(
        requires { coroutine.promise().context(); },
        "only a coroutine that returns rt::Task may yield");
    task::Header* const header = coroutine.promise().context();
    task::resume_directly(header, coroutine);
    header->disposition = task::Disposition::yielded;
  }
  void await_resume() const noexcept {}
};

inline YieldNow yield_now() noexcept { return {}; }

}  // namespace taskbench::rt
