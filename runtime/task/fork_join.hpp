// fork_join(): runs several forks, on several workers if some are idle, until all have ended.
//
//   auto [a, b] = co_await rt::fork_join(fib(n - 1), fib(n - 2));         // a tuple
//   std::array<long, 10> tens = co_await rt::fork_join<10>(child);        // child(i): a Fork<long>
//   std::vector<long> all = co_await rt::fork_join(std::move(forks));     // a vector of Fork<long>
//   std::vector<long> each = co_await rt::fork_join(lines.size(), count); // count(i): a Fork<long>
//
// Only a Fork or a Task may await it. All forks have ended when it returns, or throws the first
// exception in their order. In a tuple, std::monostate stands for the result of a Fork<>; with a
// Fork<>, the other forms return nothing.
//
// There is no form for a std::array of forks: g++ 12 destroys twice what a temporary aggregate in a
// co_await expression holds.
//
// More than kForksAtOnce forks are split in half until they are few, so that a thief gets many at
// once; those of the last form are then made where they run, and few exist at one time.
#pragma once

#include <array>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <functional>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/task/fork.hpp"

namespace taskbench::rt {

/// The most forks that are offered to other workers together.
inline constexpr std::size_t kForksAtOnce = 16;

namespace task {

template <class... T>
class [[nodiscard]] ForkTuple : public ForkJoinBase {
 public:
  explicit ForkTuple(Fork<T>&&... forks) noexcept : frames_{std::move(forks).release()...} {
    set_children(frames_, sizeof...(T));
  }
  ~ForkTuple() {
    for (void* const frame : frames_) std::coroutine_handle<>::from_address(frame).destroy();
  }

  std::tuple<ForkOutput<T>...> await_resume() {
    rethrow_first(frames_, sizeof...(T));
    return take_all(std::index_sequence_for<T...>());
  }

 private:
  template <std::size_t... I>
  std::tuple<ForkOutput<T>...> take_all(std::index_sequence<I...>) {
    return {fork_promise<T>(frames_[I]).take()...};
  }

  void* const frames_[sizeof...(T)];
};

/// The frames of forks that lie side by side.
template <class T>
void* const* frames_of(const Fork<T>* forks) noexcept {
  static_assert(std::is_standard_layout_v<Fork<T>> && sizeof(Fork<T>) == sizeof(void*));
  return reinterpret_cast<void* const*>(forks);
}

template <class T, std::size_t count>
class [[nodiscard]] ForkArray : public ForkJoinBase {
 public:
  explicit ForkArray(std::array<Fork<T>, count>&& forks) noexcept : forks_(std::move(forks)) {
    set_children(frames_of(forks_.data()), count);
  }

  auto await_resume() {
    rethrow_first(frames_of(forks_.data()), count);
    if constexpr (!std::is_void_v<T>) return take_all(std::make_index_sequence<count>());
  }

 private:
  template <std::size_t... I>
  std::array<T, count> take_all(std::index_sequence<I...>) {
    return {fork_promise<T>(frames_of(forks_.data())[I]).take()...};
  }

  const std::array<Fork<T>, count> forks_;
};

/// Runs forks that another object owns, whose results and exceptions stay where they are.
class [[nodiscard]] ForkSpan : public ForkJoinBase {
 public:
  ForkSpan(void* const* frames, std::size_t count) noexcept { set_children(frames, count); }
  void await_resume() const noexcept {}
};
Fork<> run_all(void* const* frames, std::size_t count);

template <class T>
class [[nodiscard]] ForkVector : public ForkJoinBase {
 public:
  explicit ForkVector(std::vector<Fork<T>> forks) : forks_(std::move(forks)) {
    void* const* const frames = frames_of(forks_.data());
    if (forks_.size() <= kForksAtOnce) {
      set_children(frames, forks_.size());
    } else {
      set_children(frames_of(&whole_.emplace(run_all(frames, forks_.size()))), 1);
    }
  }

  auto await_resume() {
    void* const* const frames = frames_of(forks_.data());
    rethrow_first(frames, forks_.size());
    if constexpr (!std::is_void_v<T>) {
      std::vector<T> results;
      results.reserve(forks_.size());
      for (std::size_t i = 0; i < forks_.size(); ++i) {
        results.push_back(fork_promise<T>(frames[i]).take());
      }
      return results;
    }
  }

 private:
  const std::vector<Fork<T>> forks_;
  std::optional<Fork<>> whole_;
};

/// Where the results of many forks are put one by one.
template <class T>
struct ForkResults {
  explicit ForkResults(std::size_t count) : slots(count) {}
  std::vector<std::optional<T>> slots;
};
template <>
struct ForkResults<void> {
  explicit ForkResults(std::size_t) noexcept {}
};

template <class T, class Function>
std::vector<Fork<T>> make_forks(Function& fork, std::size_t begin, std::size_t end) {
  std::vector<Fork<T>> forks;
  forks.reserve(end - begin);
  for (std::size_t i = begin; i != end; ++i) forks.push_back(std::invoke(fork, i));
  return forks;
}

// g++ 12 gives the frame of a coroutine linkage, and warns if it refers to a lambda, which has
// none.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsubobject-linkage"
#endif

/// Makes and runs the forks of [begin, end).
template <class T, class Function>
Fork<> run_range(Function& fork, ForkResults<T>& results, std::size_t begin, std::size_t end) {
  if (end - begin > kForksAtOnce) {
    const std::size_t middle = begin + (end - begin) / 2;
    co_await ForkTuple<void, void>(run_range<T>(fork, results, begin, middle),
                                   run_range<T>(fork, results, middle, end));
  } else if constexpr (std::is_void_v<T>) {
    co_await ForkVector<T>(make_forks<T>(fork, begin, end));
  } else {
    std::vector<T> part = co_await ForkVector<T>(make_forks<T>(fork, begin, end));
    // Not T&: a vector of bool has no references to its values.
    for (auto&& each : part) results.slots[begin++].emplace(std::move(each));
  }
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

template <class T, class Function>
class [[nodiscard]] ForkRange : public ForkJoinBase {
 public:
  ForkRange(std::size_t count, Function function)
      : function_(std::move(function)),
        results_(count),
        whole_(run_range<T>(function_, results_, 0, count)) {
    set_children(frames_of(&whole_), 1);
  }

  auto await_resume() {
    rethrow_first(frames_of(&whole_), 1);
    if constexpr (!std::is_void_v<T>) {
      std::vector<T> all;
      all.reserve(results_.slots.size());
      for (std::optional<T>& each : results_.slots) all.push_back(std::move(*each));
      return all;
    }
  }

 private:
  Function function_;
  ForkResults<T> results_;
  const Fork<> whole_;
};

template <class T>
struct ForkTraits;
template <class T>
struct ForkTraits<Fork<T>> {
  using Value = T;
};

/// A function that returns the Fork of a given number.
template <class Function>
concept MakesForks =
    std::invocable<Function&, std::size_t> && kIsFork<std::invoke_result_t<Function&, std::size_t>>;
template <MakesForks Function>
using MadeValue = typename ForkTraits<std::invoke_result_t<Function&, std::size_t>>::Value;

template <class T, class Function, std::size_t... I>
auto fork_array(Function& fork, std::index_sequence<I...>) {
  return ForkArray<T, sizeof...(I)>(std::array<Fork<T>, sizeof...(I)>{std::invoke(fork, I)...});
}

}  // namespace task

template <class... T>
requires(sizeof...(T) > 0) [[nodiscard]] auto fork_join(Fork<T>... forks) {
  return task::ForkTuple<T...>(std::move(forks)...);
}

template <class T>
[[nodiscard]] auto fork_join(std::vector<Fork<T>> forks) {
  return task::ForkVector<T>(std::move(forks));
}

/// The forks fork(0) to fork(count - 1), all of which are made at once.
template <std::size_t count, task::MakesForks Function>
requires(count > 0) [[nodiscard]] auto fork_join(Function&& fork) {
  return task::fork_array<task::MadeValue<Function>>(fork, std::make_index_sequence<count>());
}

/// The forks fork(0) to fork(count - 1), a few at a time. `fork` is kept until they have ended, and
/// may be called by several workers at once.
template <task::MakesForks Function>
[[nodiscard]] auto fork_join(std::size_t count, Function fork) {
  return task::ForkRange<task::MadeValue<Function>, Function>(count, std::move(fork));
}

}  // namespace taskbench::rt
