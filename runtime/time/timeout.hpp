// timeout(): runs a task for so long and no longer.
//
//   const auto line = co_await rt::time::timeout(5s, stream.read_line());
//   if (!line) co_return;
//
// A task that is given up is destroyed before timeout() returns, wherever it is suspended; the
// header of each awaitable says what that leaves behind. An exception that ends the task in time is
// thrown.
#pragma once

#include <chrono>
#include <coroutine>
#include <optional>
#include <type_traits>
#include <utility>

#include "runtime/task/awaitable.hpp"
#include "runtime/time/sleep.hpp"

namespace taskbench::rt::time {

namespace detail {

/// Polls a branch, and a sleep after it, until one of the two ends. It does what select() of both
/// does, without a coroutine for the sleep.
class BranchOrSleep : private task::Leaf {
 public:
  BranchOrSleep(const BranchOrSleep&) = delete;
  BranchOrSleep& operator=(const BranchOrSleep&) = delete;

  [[nodiscard]] bool await_ready() const noexcept { return false; }

 protected:
  BranchOrSleep(task::Header* branch, Sleep& sleep) noexcept
      : Leaf(&BranchOrSleep::poll_both), branch_(branch), sleep_(sleep) {}
  ~BranchOrSleep() = default;

  template <class Promise>
  bool suspend(std::coroutine_handle<Promise> coroutine) {
    return task::suspend_on(*this, coroutine);
  }
  [[nodiscard]] bool branch_has_ended() const noexcept { return branch_has_ended_; }

 private:
  static bool poll_both(task::Leaf* leaf, task::Header* task) noexcept;

  task::Header* const branch_;
  Sleep& sleep_;
  bool branch_has_ended_ = false;
};

template <class T>
using InTimeResult = std::conditional_t<std::is_void_v<T>, bool, std::optional<T>>;

template <class T>
class [[nodiscard]] InTime : public BranchOrSleep {
 public:
  InTime(Task<T>& task, Sleep& limit) noexcept : BranchOrSleep(task.header(), limit), task_(task) {}

  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> coroutine) {
    task_.become_branch_of(task::task_of(coroutine));
    return suspend(coroutine);
  }
  InTimeResult<T> await_resume() {
    if (!branch_has_ended()) return {};
    if constexpr (std::is_void_v<T>) {
      task::take_output<T>(task_.header());
      return true;
    } else {
      return task::take_output<T>(task_.header());
    }
  }

 private:
  Task<T>& task_;
};

template <class T>
Task<InTimeResult<T>> run_for(std::chrono::nanoseconds limit, Task<T> task) {
  // Variables: g++ 12 names temporaries differently in each unit, and the linker warns of that.
  Sleep late = sleep(limit);
  InTime<T> in_time(task, late);
  co_return co_await in_time;
}

}  // namespace detail

/// co_await gives a std::optional with the result of `task`, nullopt if `limit` passed first; if
/// `task` returns nothing, whether it ended in time. The time runs from the await on. A task that
/// is ready at its first poll always ends in time. `task` is a Task, a function that returns one
/// (kept until that has ended), or any other awaitable, which is held by reference: if it is a
/// temporary, only the expression that makes this can await it. Returns a Task otherwise. Throws
/// std::logic_error outside of every runtime.
template <class Awaitable>
[[nodiscard]] auto timeout(std::chrono::nanoseconds limit, Awaitable&& task) {
  auto limited = detail::run_for(limit, task::as_task(std::forward<Awaitable>(task)));
  using Awaiter = decltype(std::move(limited).operator co_await());
  if constexpr (task::kRefersToTemporary<Awaitable>) {
    return task::awaiter_of<Awaiter, true>(std::move(limited));
  } else {
    return limited;
  }
}

}  // namespace taskbench::rt::time
