// select(): runs several coroutines inside the awaiting task until one of them has ended.
//
//   auto first = co_await rt::select(receiver.recv(), token.cancelled());
//   if (first.index() == 1) co_return;
//   auto [index, page] = co_await rt::select(std::move(tasks));
//
// The result is a variant, whose index says which branch ended, or for a vector a pair, with
// std::monostate for void. An exception of that branch is thrown. The other branches have been
// destroyed by then, wherever they were suspended: the header of each awaitable says what it leaves
// behind when it is given up. Later branches may not even have begun, so put the most urgent first;
// of two that are ready the first wins.
//
// As with join(), the branches are a part of the awaiting task.
#pragma once

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/base/assert.hpp"
#include "runtime/task/branches.hpp"

namespace taskbench::rt {

namespace task {

template <class... T>
class [[nodiscard]] Select : public BranchesOf<std::tuple<Task<T>...>> {
 public:
  using Result = std::variant<BranchOutput<T>...>;

  explicit Select(Task<T>... tasks)
      : Select::BranchesOf(Branches::Until::one_ends, {std::move(tasks)...}) {}

  Result await_resume() {
    const auto ended = std::move(this->tasks_);
    return take<0, T...>();
  }

 private:
  template <std::size_t index, class First, class... Others>
  Result take() {
    if constexpr (sizeof...(Others) > 0) {
      if (this->headers_[index] != this->decisive()) return take<index + 1, Others...>();
    }
    return Result(std::in_place_index<index>, take_branch<First>(this->decisive()));
  }
};

template <bool refers_to_temporaries, class... T>
auto select_of(Task<T>... tasks) {
  return awaiter_of<Select<T...>, refers_to_temporaries>(std::move(tasks)...);
}

template <class T>
class [[nodiscard]] SelectVector : public BranchesOf<std::vector<Task<T>>> {
 public:
  explicit SelectVector(std::vector<Task<T>> tasks)
      : SelectVector::BranchesOf(Branches::Until::one_ends, std::move(tasks)) {
    TASKBENCH_ASSERT(!this->headers_.empty(),
                     "select() needs at least one task, and its vector is empty");
  }

  std::pair<std::size_t, BranchOutput<T>> await_resume() {
    const auto ended = std::move(this->tasks_);
    const auto found = std::find(this->headers_.begin(), this->headers_.end(), this->decisive());
    return {static_cast<std::size_t>(found - this->headers_.begin()), take_branch<T>(*found)};
  }
};

}  // namespace task

/// co_await gives a std::variant. A branch is a Task, a function that returns one (kept until the
/// branch has ended), or any other awaitable, which is held by reference and must not be awaited by
/// another branch meanwhile. If one of those is a temporary, only the expression that makes this
/// can await it.
template <class... Branch>
requires(sizeof...(Branch) > 0) [[nodiscard]] auto select(Branch&&... branches) {
  constexpr bool kRefers = (task::kRefersToTemporary<Branch> || ...);
  return task::select_of<kRefers>(task::as_task(std::forward<Branch>(branches))...);
}

/// co_await gives the index of the task that ended first, and its result. At least one task.
template <class T>
[[nodiscard]] task::SelectVector<T> select(std::vector<Task<T>> tasks) {
  return task::SelectVector<T>(std::move(tasks));
}

}  // namespace taskbench::rt
