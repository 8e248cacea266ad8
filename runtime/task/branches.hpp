// Coroutines that run inside the task that awaits them: what join() and select() have in common.
//
// Nothing is spawned. The context of a branch is the awaiting task, and all branches are polled, in
// order, whenever that task is: a wake-up does not say which branch it is meant for, so each leaf
// is asked. Branches never run at the same time, may refer to what the awaiting coroutine holds,
// and are destroyed before it goes on, or with it.
//
// Threads: the holder of the poll right of the awaiting task.
//
// Invariants
//   B1  The header of a branch keeps in `resume` where the branch goes on, as that of a task does;
//       0 once it has ended. Nothing else needs the field while the branch is awaited.
//   B2  After each poll of the branches, `resume` of the awaiting task is what it was before.
//   B3  All branches of a task, and the coroutine that awaits them, share one budget a poll.
//
// Rejected: spawning the branches (one could outlive what it refers to, as an abort is only a
// request); a waker for each branch, to poll only the one that was woken (an allocation and an
// indirect call for each wait, to spare a few looks; for many tasks that should be polled one by
// one there is JoinSet).
#pragma once

#include <array>
#include <coroutine>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/base/assert.hpp"
#include "runtime/task/awaitable.hpp"
#include "runtime/task/task.hpp"

namespace taskbench::rt::task {

class Branches : private Leaf {
 public:
  Branches(const Branches&) = delete;
  Branches& operator=(const Branches&) = delete;

  bool await_ready() const noexcept { return false; }

 protected:
  enum class Until : std::uint8_t {
    all_return,  ///< or one throws
    one_ends,
  };

  explicit Branches(Until until) noexcept : Leaf(&Branches::poll_branches), until_(until) {}
  ~Branches() = default;

  template <class Promise>
  bool suspend(std::span<Header* const> all, std::coroutine_handle<Promise> coroutine) {
    all_ = all;
    return suspend_on(*this, coroutine);
  }

  /// The branch that ended the wait; nullptr: all have returned.
  [[nodiscard]] Header* decisive() const noexcept { return decisive_; }

 private:
  static bool poll_branches(Leaf* leaf, Header* task) noexcept;

  std::span<Header* const> all_;
  Header* decisive_ = nullptr;
  const Until until_;
};

/// `Tasks`: a tuple of Tasks, or a vector.
template <class Tasks>
class BranchesOf : public Branches {
 public:
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> coroutine) {
    begin(tasks_, task_of(coroutine));
    return suspend(headers_, coroutine);
  }

 protected:
  BranchesOf(Until until, Tasks tasks)
      : Branches(until), headers_(headers_of(tasks)), tasks_(std::move(tasks)) {}

  template <class... T>
  static std::array<Header*, sizeof...(T)> headers_of(const std::tuple<Task<T>...>& tasks) {
    return std::apply([](const auto&... each) { return std::array{each.header()...}; }, tasks);
  }
  template <class T>
  static std::vector<Header*> headers_of(const std::vector<Task<T>>& tasks) {
    std::vector<Header*> headers;
    for (const Task<T>& each : tasks) headers.push_back(each.header());
    return headers;
  }

  const decltype(headers_of(std::declval<Tasks&>())) headers_;
  Tasks tasks_;

 private:
  template <class... T>
  static void begin(std::tuple<Task<T>...>& tasks, Header* task) noexcept {
    std::apply([task](auto&... each) { (each.become_branch_of(task), ...); }, tasks);
  }
  template <class T>
  void begin(std::vector<Task<T>>& tasks, Header* task) noexcept {
    TASKBENCH_ASSERT(tasks.size() == headers_.size(), "a join or select is awaited once");
    for (Task<T>& each : tasks) each.become_branch_of(task);
  }
};

/// The result of a branch in a tuple, a variant, or a vector.
template <class T>
using BranchOutput = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

/// Returns the value of a branch that has ended, or throws its exception.
template <class T>
BranchOutput<T> take_branch(Header* branch) {
  if constexpr (std::is_void_v<T>) {
    take_output<T>(branch);
    return {};
  } else {
    return take_output<T>(branch);
  }
}

}  // namespace taskbench::rt::task
