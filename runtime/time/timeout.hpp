// timeout(): runs a task for so long and no longer.
//
//   const auto line = co_await rt::time::timeout(5s, stream.read_line());
//   if (!line) co_return;
//
// What is given up is destroyed before timeout() returns, wherever it was; each await says in its
// header what it leaves behind then. An exception that ends it in time is thrown.
#pragma once

#include <chrono>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "runtime/task/select.hpp"
#include "runtime/time/sleep.hpp"

namespace taskbench::rt::time {

namespace detail {

template <class T>
Task<std::conditional_t<std::is_void_v<T>, bool, std::optional<T>>> run_for(
    std::chrono::nanoseconds limit, Task<T> task) {
  // Named: what g++ 12 makes of a temporary has another name in each unit, and -Wodr complains.
  auto late = sleep(limit);
  auto ended = co_await select(std::move(task), late);
  if constexpr (std::is_void_v<T>) {
    co_return ended.index() == 0;
  } else {
    if (ended.index() != 0) co_return std::nullopt;
    co_return std::get<0>(std::move(ended));
  }
}

}  // namespace detail

/// co_await gives a std::optional with what `task` returned, nullopt if `limit` had passed before;
/// where it returns nothing, whether it ended in time. The time runs from the await on. A task that
/// is ready at its first poll ends in time in any case. `task` is a Task, a function that returns
/// one (kept until it has ended), or anything else that a task may await, which is then referred
/// to: if it is a temporary, only the expression that makes this can await it. Returns a Task
/// otherwise. Throws std::logic_error outside of every runtime.
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
