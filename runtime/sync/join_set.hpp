// A set of tasks that are joined in the order in which they finish, and aborted together.
//
//   JoinSet<int> set;
//   set.spawn(compute(1));
//   set.spawn(compute(2));
//   while (auto result = co_await set.join_next()) use(std::move(*result).get());
//
// Threads: a set belongs to one task or thread at a time; its members run wherever they were
// spawned. The set must stay where it is while join_next is awaited.
//
// Destroying the set aborts what still runs and waits for nobody.
//
// How: each member runs inside a small coroutine whose frame holds a Reporter, so that its end is
// reported however it comes about. The output stays in the member's task until it is joined.
//
// Rejected: registering with every JoinHandle on each wait (linear in the size of the set for each
// member joined). A destructor that throws during an abort ends the program here, as in any nested
// coroutine.
#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <list>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "runtime/sync/completions.hpp"
#include "runtime/task/join_handle.hpp"
#include "runtime/task/schedule.hpp"
#include "runtime/task/task.hpp"

namespace taskbench::rt::sync {

/// How a member of a JoinSet ended: with a value, an exception, or cancelled.
template <class T>
class [[nodiscard]] JoinResult {
 public:
  using Value = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

  static JoinResult of_value(Value value) {
    JoinResult result;
    result.value_.emplace(std::move(value));
    return result;
  }
  static JoinResult of_failure(std::exception_ptr failure, bool cancelled) noexcept {
    JoinResult result;
    result.failure_ = std::move(failure);
    result.cancelled_ = cancelled;
    return result;
  }

  [[nodiscard]] bool has_value() const noexcept { return value_.has_value(); }
  /// Aborted, or cancelled by the end of its runtime; also when it let a JoinError of its own out.
  [[nodiscard]] bool is_cancelled() const noexcept { return cancelled_; }
  /// The exception, JoinError included; null if there is a value.
  [[nodiscard]] const std::exception_ptr& failure() const noexcept { return failure_; }

  /// The value, or throws what ended the task.
  T get() && {
    if (failure_) std::rethrow_exception(failure_);
    if constexpr (!std::is_void_v<T>) return *std::move(value_);
  }

 private:
  JoinResult() = default;

  std::optional<Value> value_;
  std::exception_ptr failure_;
  bool cancelled_ = false;
};

namespace detail {

/// The scheduler of the calling thread. Throws std::logic_error outside of every runtime.
[[nodiscard]] task::Spawner& scheduler_of_this_thread();

/// Where JoinSet::spawn spawns.
struct CurrentRuntime {
  task::Spawner& scheduler = scheduler_of_this_thread();

  template <class T>
  JoinHandle<T> spawn(Task<T> task) const noexcept {
    task::Header* const header = std::move(task).release_for_spawn(&scheduler);
    scheduler.spawn(header);
    return JoinHandle<T>(header);
  }
};

/// Waits for the end of a task and leaves its output where it is.
template <class T>
class Completion {
 public:
  explicit Completion(JoinHandle<T>& handle) noexcept : awaiter_(handle) {}
  bool await_ready() const noexcept { return awaiter_.await_ready(); }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> coroutine) {
    return awaiter_.await_suspend(coroutine);
  }
  void await_resume() const noexcept {}

 private:
  typename JoinHandle<T>::Awaiter awaiter_;
};

}  // namespace detail

template <class T = void>
class JoinSet {
 public:
  JoinSet() = default;
  JoinSet(JoinSet&& other) noexcept { swap(other); }
  JoinSet& operator=(JoinSet&& other) noexcept {
    JoinSet(std::move(other)).swap(*this);
    return *this;
  }
  JoinSet(const JoinSet&) = delete;
  JoinSet& operator=(const JoinSet&) = delete;
  ~JoinSet() {
    abort_all();
    detach_all();
  }

  void swap(JoinSet& other) noexcept {
    members_.swap(other.members_);
    std::swap(completions_, other.completions_);
  }

  /// Members that were not joined yet, finished or not.
  [[nodiscard]] std::size_t size() const noexcept { return members_.size(); }
  [[nodiscard]] bool empty() const noexcept { return members_.empty(); }

  /// Spawns on the runtime that the calling thread runs tasks of. Throws std::logic_error outside.
  AbortHandle spawn(Task<T> task) { return spawn_on(detail::CurrentRuntime(), std::move(task)); }

  /// Spawns on a Runtime, or through a Handle.
  template <class Where>
  AbortHandle spawn_on(Where&& where, Task<T> task) {
    if (completions_ == nullptr) completions_ = base::Ref(new detail::Completions);
    std::list<std::unique_ptr<Member>> fresh;
    fresh.push_back(std::make_unique<Member>());
    Member& member = *fresh.front();
    Task<T> reporting = run({detail::Reporter(completions_, &member), std::move(task)});
    // Nothing fails from here on.
    member.counted = true;
    member.place = fresh.begin();
    members_.splice(members_.end(), fresh);
    member.handle = where.spawn(std::move(reporting));
    return member.handle.abort_handle();
  }

  /// Waits for the next member to finish; nullopt when the set is empty. Cancellation-safe: a wait
  /// that is given up leaves the members as they were.
  Task<std::optional<JoinResult<T>>> join_next() {
    if (members_.empty()) co_return std::nullopt;
    auto* const member =
        static_cast<Member*>(co_await detail::Completions::NextDone(*completions_));
    // Its coroutine is gone, so this is ready now or very soon; until then it stays in the list.
    co_await detail::Completion<T>(member->handle);
    co_return take_first(*member);
  }

  /// A member that has finished, if there is one.
  [[nodiscard]] std::optional<JoinResult<T>> try_join_next() {
    if (members_.empty()) return std::nullopt;
    auto* const member = static_cast<Member*>(completions_->front());
    if (member == nullptr || !member->handle.is_finished()) return std::nullopt;
    return take_first(*member);
  }

  /// Asks all members to end; they are joined as cancelled, unless they finish just now.
  void abort_all() noexcept {
    for (const auto& member : members_) member->handle.abort();
  }

  /// Lets all members go on without the set, which is empty then.
  void detach_all() noexcept {
    if (completions_ != nullptr) completions_->abandon();
    completions_ = {};
    members_.clear();
  }

  /// Aborts all members and waits for their end; their results are dropped.
  Task<void> shutdown() {
    abort_all();
    for (bool more = true; more;) {
      const auto result = co_await join_next();
      more = result.has_value();
    }
  }

 private:
  struct Member : detail::Completions::Member {
    JoinHandle<T> handle{nullptr};
    typename std::list<std::unique_ptr<Member>>::iterator place;
  };

  /// What a member's frame holds. The task is destroyed before the reporter reports.
  struct Body {
    detail::Reporter reporter;
    Task<T> task;
  };
  static Task<T> run(Body body) { co_return co_await std::move(body.task); }

  /// `member` is finished, and the first in the list.
  JoinResult<T> take_first(Member& member) {
    completions_->pop_front();
    const std::unique_ptr<Member> taken = std::move(*member.place);
    members_.erase(member.place);
    try {
      if constexpr (std::is_void_v<T>) {
        taken->handle.operator co_await().await_resume();
        return JoinResult<T>::of_value({});
      } else {
        return JoinResult<T>::of_value(taken->handle.operator co_await().await_resume());
      }
    } catch (const JoinError&) {
      return JoinResult<T>::of_failure(std::current_exception(), true);
    } catch (...) {
      return JoinResult<T>::of_failure(std::current_exception(), false);
    }
  }

  std::list<std::unique_ptr<Member>> members_;
  base::Ref<detail::Completions> completions_;  // null until the first spawn
};

}  // namespace taskbench::rt::sync
