// join(): runs several coroutines inside the awaiting task until all have ended.
//
//   auto [user, posts] = co_await rt::join(load_user(id), load_posts(id));
//   std::vector<Page> pages = co_await rt::join(std::move(tasks));
//
// The result is a tuple, or a vector, of the returned values, with std::monostate for void. The
// first exception ends the others and is thrown. (With g++ 15 or 16, name the tuple instead of
// binding its parts: see the pitfalls in docs/library.md.)
//
// The branches are a part of the awaiting task: none of them runs on another worker, all may refer
// to its locals, and when it is destroyed or aborted they are destroyed with it, at once
// (docs/design/structured_concurrency.md). To use several workers, join JoinHandles. A join that is
// kept is awaited once; if that was given up, the same task may await it again, and no other.
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/task/branches.hpp"

namespace taskbench::rt {

namespace task {

template <class... T>
class [[nodiscard]] Join : public BranchesOf<std::tuple<Task<T>...>> {
 public:
  explicit Join(Task<T>... tasks)
      : Join::BranchesOf(Branches::Until::all_return, {std::move(tasks)...}) {}

  std::tuple<BranchOutput<T>...> await_resume() {
    const auto ended = std::move(this->tasks_);
    if (this->decisive() != nullptr) rethrow_failure(this->decisive());
    return take_all(std::index_sequence_for<T...>());
  }

 private:
  template <std::size_t... I>
  std::tuple<BranchOutput<T>...> take_all(std::index_sequence<I...>) {
    return {take_branch<T>(this->headers_[I])...};
  }
};

template <bool refers_to_temporaries, class... T>
auto join_of(Task<T>... tasks) {
  return awaiter_of<Join<T...>, refers_to_temporaries>(std::move(tasks)...);
}

template <class T>
class [[nodiscard]] JoinVector : public BranchesOf<std::vector<Task<T>>> {
 public:
  explicit JoinVector(std::vector<Task<T>> tasks)
      : JoinVector::BranchesOf(Branches::Until::all_return, std::move(tasks)) {}

  std::vector<BranchOutput<T>> await_resume() {
    const auto ended = std::move(this->tasks_);
    if (this->decisive() != nullptr) rethrow_failure(this->decisive());
    std::vector<BranchOutput<T>> outputs;
    outputs.reserve(this->headers_.size());
    for (Header* const branch : this->headers_) outputs.push_back(take_branch<T>(branch));
    return outputs;
  }
};

}  // namespace task

/// co_await gives a std::tuple. A branch is a Task, a function that returns one (kept until the
/// branch has ended), or any other awaitable, which is held by reference and must not be awaited by
/// another branch meanwhile. If one of those is a temporary, only the expression that makes this
/// can await it.
template <class... Branch>
requires(sizeof...(Branch) > 0) [[nodiscard]] auto join(Branch&&... branches) {
  constexpr bool kRefers = (task::kRefersToTemporary<Branch> || ...);
  return task::join_of<kRefers>(task::as_task(std::forward<Branch>(branches))...);
}

/// co_await gives a std::vector, in the order of the tasks.
template <class T>
[[nodiscard]] task::JoinVector<T> join(std::vector<Task<T>> tasks) {
  return task::JoinVector<T>(std::move(tasks));
}

}  // namespace taskbench::rt
