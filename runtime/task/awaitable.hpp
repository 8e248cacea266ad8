// Awaitables, and their conversion to a Task: for block_on(), for the branches of join() and
// select(), and for functions that are given to spawn().
#pragma once

#include <concepts>
#include <tuple>
#include <type_traits>
#include <utility>

#include "runtime/task/task.hpp"

namespace taskbench::rt::task {

/// A join, select or timeout that refers to a temporary such as `receiver.recv()`: it can be
/// neither copied nor moved, so that only the expression that makes it can await it.
template <class Awaiter, class... Part>
class [[nodiscard]] AwaitedInTheSameExpression {
 public:
  explicit AwaitedInTheSameExpression(Part... parts) noexcept : parts_(std::move(parts)...) {}
  AwaitedInTheSameExpression(const AwaitedInTheSameExpression&) =
      delete;  // what it refers to is gone after the expression that made it: co_await it there

  /// Takes its operand by value, as a temporary can be passed and a variable cannot.
  friend Awaiter operator co_await(AwaitedInTheSameExpression whole) noexcept {
    return std::move(whole).awaiter();
  }
  [[nodiscard]] Awaiter awaiter() && noexcept {
    return std::make_from_tuple<Awaiter>(std::move(parts_));
  }

 private:
  std::tuple<Part...> parts_;
};

template <class T>
inline constexpr bool kIsTask = false;
template <class T>
inline constexpr bool kIsTask<Task<T>> = true;

template <class T>
inline constexpr bool kIsAwaitedInTheSameExpression = false;
template <class... T>
inline constexpr bool kIsAwaitedInTheSameExpression<AwaitedInTheSameExpression<T...>> = true;

template <class T>
concept MakesAwaiter = requires(T&& awaitable) {
  std::forward<T>(awaitable).operator co_await();
};

template <class T>
concept IsAwaiter = requires(T& awaiter) {
  awaiter.await_ready();
  awaiter.await_resume();
};

/// What a task can await.
template <class T>
concept Awaitable =
    MakesAwaiter<T> || IsAwaiter<std::remove_reference_t<T>> || kIsAwaitedInTheSameExpression<T>;

/// The result of a co_await of `awaitable`.
template <Awaitable T>
decltype(auto) await_result(T&& awaitable) {
  if constexpr (kIsAwaitedInTheSameExpression<T>) {
    return std::move(awaitable).awaiter().await_resume();
  } else if constexpr (MakesAwaiter<T>) {
    return std::forward<T>(awaitable).operator co_await().await_resume();
  } else {
    return awaitable.await_resume();
  }
}
template <class T>
using AwaitResult = std::remove_cvref_t<decltype(await_result(std::declval<T>()))>;

/// A function without parameters that returns an awaitable: usually a coroutine lambda.
template <class T>
concept AsyncFunction = !Awaitable<T> && std::invocable<std::decay_t<T>&> &&
                        Awaitable<std::invoke_result_t<std::decay_t<T>&>>;

/// The result of a co_await of what the function returns.
template <AsyncFunction T>
using CallResult = AwaitResult<std::invoke_result_t<std::decay_t<T>&>>;

// g++ 12 gives the frame of a coroutine linkage, and warns if it holds a lambda, which has none.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsubobject-linkage"
#endif

/// Keeps the function, and so a lambda's captures, for as long as the awaitable it returns runs.
template <class Function>
Task<CallResult<Function>> call_and_await(Function function) {
  static_assert(kFitsIntoFrame<Function>,
                "the function captures something that is aligned more strictly than a coroutine's "
                "frame: capture a pointer to it");
  co_return co_await function();
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

/// A Task needs no conversion.
template <class T>
Task<T> as_task(Task<T>&& task) noexcept {
  return std::move(task);
}
/// A function is copied, or moved, into the task, which calls it.
template <AsyncFunction T>
Task<CallResult<T>> as_task(T&& function) {
  return call_and_await<std::decay_t<T>>(std::forward<T>(function));
}
/// Any other awaitable is held by reference.
template <Awaitable T>
Task<AwaitResult<T>> as_task(T&& awaitable) {
  if constexpr (kIsAwaitedInTheSameExpression<T>) {
    co_return co_await std::move(awaitable).awaiter();
  } else if constexpr (MakesAwaiter<T>) {
    // Variables: g++ 12 names temporaries differently in each unit, and the linker warns of that.
    auto awaiter = std::forward<T>(awaitable).operator co_await();
    if constexpr (std::is_void_v<AwaitResult<T>>) {
      co_await awaiter;
    } else {
      AwaitResult<T> result = co_await awaiter;
      co_return std::move(result);
    }
  } else {
    co_return co_await awaitable;  // not forwarded: g++ 12 would move an awaiter, which must stay
  }
}

/// Whether as_task(T) refers to an object that lives no longer than the expression it is in.
template <class T>
inline constexpr bool kRefersToTemporary =
    !std::is_lvalue_reference_v<T> && !kIsTask<std::remove_cvref_t<T>> && !AsyncFunction<T>;

/// Makes an Awaiter of `parts`, which may refer to temporaries.
template <class Awaiter, bool refers_to_temporaries, class... Part>
auto awaiter_of(Part... parts) {
  if constexpr (refers_to_temporaries) {
    return AwaitedInTheSameExpression<Awaiter, Part...>(std::move(parts)...);
  } else {
    return Awaiter(std::move(parts)...);
  }
}

}  // namespace taskbench::rt::task
