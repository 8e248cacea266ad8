// A set of tasks that are joined in the order in which they finish, and aborted together.
//
//   JoinSet<int> set;
//   set.spawn(compute(1));
//   set.spawn(compute(2));
//   while (auto result = co_await set.join_next()) use(std::move(*result).get());
//
// Threads: a set belongs to one task or thread at a time; its members run wherever they were
// spawned. The set must not be moved while join_next is awaited.
//
// Destroying the set aborts the members that still run, and does not wait for them.
//
// How: the set's list of completions takes the place of a task that awaits the member's JoinHandle,
// so it learns of the member's end however that comes about. The output stays in the member's task
// until it is joined. A member costs the set no more than its handle.
//
// Rejected: registering with every JoinHandle on each wait (linear in the size of the set for each
// member joined); a small coroutine around each member, whose frame reports when it is destroyed
// (with a list entry, 336 bytes more per member).
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/sync/completions.hpp"
#include "runtime/task/awaitable.hpp"
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
  /// Whether the member was aborted, or cancelled by the end of its runtime; also true if it threw
  /// a JoinError itself.
  [[nodiscard]] bool is_cancelled() const noexcept { return cancelled_; }
  /// The exception, JoinError included; null if there is a value.
  [[nodiscard]] const std::exception_ptr& failure() const noexcept { return failure_; }

  /// Returns the value, or throws what ended the task.
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

  /// The number of members not joined yet, finished or not.
  [[nodiscard]] std::size_t size() const noexcept { return members_.size(); }
  [[nodiscard]] bool empty() const noexcept { return members_.empty(); }

  /// Spawns on the runtime whose tasks the calling thread runs. Throws std::logic_error outside.
  AbortHandle spawn(Task<T> task) { return spawn_on(detail::CurrentRuntime(), std::move(task)); }
  /// A function that returns a Task is kept for as long as the task runs.
  template <task::AsyncFunction Function>
  AbortHandle spawn(Function&& function) {
    return spawn(task::as_task(std::forward<Function>(function)));
  }

  /// Spawns on a Runtime, or through a Handle.
  template <class Where>
  AbortHandle spawn_on(Where&& where, Task<T> task) {
    if (completions_ == nullptr) completions_ = base::Ref(new detail::Completions);
    if (members_.size() == members_.capacity()) members_.reserve(2 * members_.size() + 4);
    JoinHandle<T> spawned = where.spawn(std::move(task));
    // Nothing fails from here on.
    const JoinHandle<T>& member = members_.emplace_back(std::move(spawned));
    note_place(members_.size() - 1);
    completions_->watch(member.header());
    return member.abort_handle();
  }
  template <class Where, task::AsyncFunction Function>
  AbortHandle spawn_on(Where&& where, Function&& function) {
    return spawn_on(std::forward<Where>(where), task::as_task(std::forward<Function>(function)));
  }

  /// Waits for the next member to finish; nullopt when the set is empty. Cancellation-safe: a wait
  /// that is given up leaves the members as they were.
  Task<std::optional<JoinResult<T>>> join_next() {
    if (members_.empty()) co_return std::nullopt;
    task::Header* const member = co_await detail::Completions::NextDone(*completions_);
    co_return take_first(member);
  }

  /// A member that has finished, if there is one.
  [[nodiscard]] std::optional<JoinResult<T>> try_join_next() {
    if (members_.empty()) return std::nullopt;
    task::Header* const member = completions_->front();
    if (member == nullptr) return std::nullopt;
    return take_first(member);
  }

  /// Aborts all members; each is joined as cancelled unless it finishes first.
  void abort_all() noexcept {
    for (const JoinHandle<T>& member : members_) member.abort();
  }

  /// Lets all members run on without the set, which is empty afterwards.
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
  void note_place(std::size_t place) noexcept {
    task::trailer_of(members_[place].header()).member = static_cast<std::uint32_t>(place);
  }

  /// Joins `member`, which is complete and the first in the list.
  JoinResult<T> take_first(task::Header* member) {
    completions_->pop_front();
    const std::size_t place = task::trailer_of(member).member;
    JoinHandle<T> taken = std::exchange(members_[place], std::move(members_.back()));
    members_.pop_back();
    if (place < members_.size()) note_place(place);
    try {
      if constexpr (std::is_void_v<T>) {
        taken.operator co_await().await_resume();
        return JoinResult<T>::of_value({});
      } else {
        return JoinResult<T>::of_value(taken.operator co_await().await_resume());
      }
    } catch (const JoinError&) {
      return JoinResult<T>::of_failure(std::current_exception(), true);
    } catch (...) {
      return JoinResult<T>::of_failure(std::current_exception(), false);
    }
  }

  std::vector<JoinHandle<T>> members_;
  base::Ref<detail::Completions> completions_;  // null until the first spawn
};

}  // namespace taskbench::rt::sync
