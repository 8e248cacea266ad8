// rt::Fork<T>: the coroutine that a task splits its work into, and fork_join(), which runs several
// and waits for all of them.
//
//   rt::Fork<long> fib(int n) {
//     if (n < 2) co_return n;
//     auto [a, b] = co_await rt::fork_join(fib(n - 1), fib(n - 2));
//     co_return a + b;
//   }
//   rt::Task<> print() { std::cout << co_await fib(30); }
//
// A Fork is far cheaper than a task, and can do less: it awaits other forks, and nothing else. So
// it never waits for anything that does not run, and needs no waker, no handle and no place in a
// list of tasks. The thread that forks runs the first child at once and offers the others to idle
// workers; a child that was not stolen runs next, on the same thread, without a locked
// instruction. With the scheduler work_stealing other workers steal children; elsewhere they run in
// order on the thread that forks.
//
// All children have ended before fork_join() gives their results, or throws the first exception in
// the order of the children. So they may refer to the parent's locals. A task that is aborted
// begins no more forks, and ends when the running ones have ended; a co_await in these then throws
// JoinError.
//
// How it works: docs/design/structured_concurrency.md, "Forks".
//
// Threads: a Fork belongs to one thread at a time, which changes at each co_await.
//
// Invariants
//   J1  A worker that begins a stolen fork, or a task, has an empty deque.
//   J2  While a fork runs, its waiting siblings are, in order, the newest forks in the deque of its
//       worker, except for the children of the fork itself.
//   J3  Thieves take the oldest fork. So if a child of a fork was stolen, all later siblings of
//       that fork were stolen before.
//   J4  So the fork that a strand takes back from its deque is the next sibling; if there is none,
//       all later siblings were stolen, and the deque is empty.
//   J5  The coroutine that awaits a join goes on once: on the strand that has run out of children
//       if none was stolen, or else on the strand that brings `balance_` to zero.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

#include "runtime/base/assert.hpp"
#include "runtime/base/cache_line.hpp"
#include "runtime/base/sync_primitives.hpp"
#include "runtime/task/frame_cache.hpp"
#include "runtime/task/header.hpp"
#include "runtime/task/leaf.hpp"
#include "runtime/task/strand.hpp"
#include "runtime/task/task.hpp"

namespace taskbench::rt {

template <class T = void>
class Fork;

namespace task {

class ForkJoinBase;

/// The base of the promises of all forks. Their alignment is the same, and so their place.
class ForkPromiseBase {
 public:
  [[nodiscard]] static ForkPromiseBase& of(void* frame) noexcept {
    return std::coroutine_handle<ForkPromiseBase>::from_address(frame).promise();
  }

  std::suspend_always initial_suspend() const noexcept { return {}; }

  struct FinalAwaiter {
    bool await_ready() const noexcept { return false; }
    template <class Promise, bool by_tail_call = TASKBENCH_TAIL_CALLS>
    Strand::GoesOn<by_tail_call> await_suspend(std::coroutine_handle<Promise> ended) const noexcept;
    void await_resume() const noexcept {}
  };
  FinalAwaiter final_suspend() const noexcept { return {}; }

  template <class Awaitable>
  auto await_transform(Awaitable&& awaitable) noexcept;

  static void* operator new(std::size_t bytes) { return allocate_block(units_of(bytes)); }
  static void operator delete(void* frame, std::size_t bytes) noexcept {
    deallocate_block(frame, units_of(bytes));
  }

 protected:
  ForkPromiseBase() noexcept {}
  ForkPromiseBase(const ForkPromiseBase&) = delete;
  ForkPromiseBase& operator=(const ForkPromiseBase&) = delete;
  ~ForkPromiseBase() {
    if (outcome_ == Outcome::exception) [[unlikely]]
      std::destroy_at(&exception_);
  }

  void store_exception() noexcept {
    std::construct_at(&exception_, std::current_exception());
    outcome_ = Outcome::exception;
  }

  /// Checks where the compiler has placed the promise.
  [[nodiscard]] static void* checked(void* frame) noexcept {
    // The compiler must not place the frame in its caller's: see PromiseBase::opaque().
    asm volatile("" : "+r"(frame));
    TASKBENCH_ASSERT(reinterpret_cast<std::uintptr_t>(frame) % base::kCacheLineBytes == 0,
                     "g++ 12 misplaced a promise: see PromiseCommon::get_return_object()");
    return frame;
  }

  static std::uint32_t units_of(std::size_t bytes) noexcept {
    const std::size_t units = (bytes + base::kCacheLineBytes - 1) / base::kCacheLineBytes;
    return units < 2 ? 2 : static_cast<std::uint32_t>(units);
  }

  friend class ForkJoinBase;

  Strand* strand_;      // that it runs in; set before it begins, and when it goes on elsewhere
  ForkJoinBase* join_;  // that awaits it
  bool stolen_ = false;
  Outcome outcome_ = Outcome::none;
  union {
    std::exception_ptr exception_;
  };
};

template <class T>
class ForkPromise : public ForkPromiseBase {
 public:
  static_assert(!std::is_reference_v<T>, "return a pointer or std::reference_wrapper instead");
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__,
                "a fork's result is aligned as operator new aligns: put it behind a pointer");

  ForkPromise() noexcept {}
  ~ForkPromise() {
    if (outcome_ == Outcome::value) std::destroy_at(&value_);
  }

  Fork<T> get_return_object() noexcept;

  void unhandled_exception() noexcept {
    // A value is there already when the destructor of a local threw after co_return.
    if (outcome_ == Outcome::value) std::destroy_at(&value_);
    store_exception();
  }

  template <class U = T>
  requires std::is_convertible_v<U, T>
  void return_value(U&& value) noexcept(std::is_nothrow_constructible_v<T, U>) {
    std::construct_at(&value_, std::forward<U>(value));
    outcome_ = Outcome::value;
  }

  T take() { return std::move(value_); }

 private:
  union {
    T value_;  // beside the exception: a destructor may throw after co_return
  };
};

template <>
class ForkPromise<void> : public ForkPromiseBase {
 public:
  Fork<void> get_return_object() noexcept;
  void unhandled_exception() noexcept { store_exception(); }
  void return_void() noexcept { outcome_ = Outcome::value; }
  std::monostate take() noexcept { return {}; }
};

template <class T>
ForkPromise<T>& fork_promise(void* frame) noexcept {
  return std::coroutine_handle<ForkPromise<T>>::from_address(frame).promise();
}

/// The awaiter of forks, in the frame of the awaiting coroutine. `children_` are the forks' frames,
/// which the derived classes own.
class ForkJoinBase {
 public:
  ForkJoinBase(const ForkJoinBase&) = delete;
  ForkJoinBase& operator=(const ForkJoinBase&) = delete;

  bool await_ready() const noexcept { return count_ == 0; }

  template <class Promise, bool by_tail_call = TASKBENCH_TAIL_CALLS>
  Strand::GoesOn<by_tail_call> await_suspend(std::coroutine_handle<Promise> awaiting) noexcept {
    if constexpr (std::is_base_of_v<ForkPromiseBase, Promise>) {
      awaiting_ = awaiting;
      Strand& strand = *awaiting.promise().strand_;
      return strand.go_on_with<by_tail_call>(begin(strand));
    } else {
      await_in(task_of(awaiting), awaiting);
      if constexpr (by_tail_call) return std::noop_coroutine();
    }
  }

  // For the runtime.

  /// Runs the children for the task that awaits them, in its poll. Returns the coroutine that goes
  /// on then; null: other threads still run children, and the last one schedules the task, which
  /// is theirs from here on.
  [[nodiscard]] std::coroutine_handle<> run_for(Header* task) noexcept;

  /// Runs a fork that was stolen, on the thread of `strand`.
  static void run_stolen(Strand& strand, void* frame) noexcept;

 protected:
  ForkJoinBase() = default;
  ~ForkJoinBase() = default;

  void set_children(void* const* frames, std::size_t count) noexcept {
    children_ = frames;
    count_ = static_cast<std::uint32_t>(count);
  }

  /// Throws the first exception of forks that have run below here, in their order.
  void rethrow_first(void* const* frames, std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i) {
      if (ForkPromiseBase::of(frames[i]).outcome_ != Outcome::value) [[unlikely]] {
        rethrow(frames[i]);
      }
    }
  }

 private:
  friend struct ForkPromiseBase::FinalAwaiter;
  friend class ForkDelivery;

  [[noreturn]] void rethrow(void* fork) const;

  void await_in(Header* task, std::coroutine_handle<> awaiting) noexcept;

  /// Offers all children but the first to other threads. Returns the coroutine that goes on in this
  /// strand.
  std::coroutine_handle<> begin(Strand& strand) noexcept {
    TASKBENCH_ASSERT(task_ == nullptr || is_root_, "a fork_join is awaited once");
    task_ = strand.task();
    for (std::uint32_t i = 0; i < count_; ++i) ForkPromiseBase::of(children_[i]).join_ = this;
    if (strand.is_cancelled()) [[unlikely]]
      return all_have_begun(strand, 0);
    offered_ = count_ > 1 && strand.offer({children_ + 1, count_ - 1});
    begun_ = 1;
    return child(0, strand);
  }

  std::coroutine_handle<> child(std::uint32_t index, Strand& strand) noexcept {
    ForkPromiseBase::of(children_[index]).strand_ = &strand;
    return std::coroutine_handle<>::from_address(children_[index]);
  }

  /// Called when a child that `strand` has run, and that was not stolen, has ended. Returns the
  /// coroutine that goes on here.
  std::coroutine_handle<> after_child(Strand& strand) noexcept {
    while (begun_ < count_) {
      if (offered_) {
        void* frame = nullptr;
        if (!strand.take_back(frame)) return all_have_begun(strand, count_ - begun_);
        TASKBENCH_ASSERT(frame == children_[begun_], "J4: what was taken back is the next sibling");
      }
      const std::uint32_t index = begun_++;
      if (!strand.is_cancelled()) [[likely]]
        return child(index, strand);
    }
    return all_have_begun(strand, 0);
  }

  /// Called when this strand has no more children to run; others may still run stolen ones.
  std::coroutine_handle<> all_have_begun(Strand& strand, std::uint32_t stolen) noexcept {
    if (stolen != 0 || is_root_) [[unlikely]]
      return settle(strand, stolen);
    ForkPromiseBase::of(awaiting_.address()).strand_ = &strand;
    return awaiting_;
  }

  /// Lets a worker begin. False: run_for() has to.
  bool send_to_worker(Spawner& scheduler) noexcept;

  std::coroutine_handle<> settle(Strand& strand, std::uint32_t stolen) noexcept;
  std::coroutine_handle<> after_stolen(Strand& strand) noexcept;
  std::coroutine_handle<> complete(Strand& strand) noexcept;

  /// Zero at first and when all children have ended: the strand adds the number of stolen children
  /// when it has run out of children, and each stolen child subtracts 1 when it ends. In a task's
  /// own join, the strand adds 1 more for the poll that has begun it, which subtracts it on return.
  base::Atomic<std::int32_t> balance_{0};
  std::uint32_t count_ = 0;
  std::uint32_t begun_ = 0;  // of the strand: how many children were taken, in their order
  bool offered_ = false;     // constant once a child runs
  bool is_root_ = false;     // a task awaits it, not a fork
  bool is_sent_ = false;     // a worker begins it, not the poll
  void* const* children_ = nullptr;
  Header* task_ = nullptr;
  std::coroutine_handle<> awaiting_;
};

template <class Promise, bool by_tail_call>
Strand::GoesOn<by_tail_call> ForkPromiseBase::FinalAwaiter::await_suspend(
    std::coroutine_handle<Promise> ended) const noexcept {
  ForkPromiseBase& promise = ended.promise();
  Strand& strand = *promise.strand_;
  ForkJoinBase& join = *promise.join_;
  return strand.go_on_with<by_tail_call>(promise.stolen_ ? join.after_stolen(strand)
                                                         : join.after_child(strand));
}

}  // namespace task

/// A coroutine whose body runs when a fork_join() awaits it. It is moved, never copied; one that is
/// never awaited never runs. Its frame is aligned like that of a Task.
template <class T>
class [[nodiscard]] Fork {
 public:
  using promise_type = task::ForkPromise<T>;
  using value_type = T;

  Fork(Fork&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  Fork& operator=(Fork&& other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  Fork(const Fork&) = delete;  // it is given away instead: std::move(fork)
  /// The copy that fork_join(fork) of a variable would make: does not compile, and says why.
  template <bool never = false>
  Fork(Fork&) {
    static_assert(never,
                  "an rt::Fork runs once, and is given away: rt::fork_join(std::move(fork)), or "
                  "rt::fork_join "
                  "of the call that returns it");
    std::terminate();
  }
  Fork& operator=(const Fork&) = delete;
  ~Fork() {
    if (frame_ != nullptr) std::coroutine_handle<>::from_address(frame_).destroy();
  }

  /// Runs it alone: its value, or its exception.
  auto operator co_await() && noexcept;
  template <bool never = false>
  std::suspend_never operator co_await() const& {
    static_assert(never,
                  "an rt::Fork is awaited once, and given away by that: co_await std::move(fork), "
                  "or co_await the call that returns it");
    std::terminate();
  }

  /// For the runtime: gives the coroutine up, as its frame.
  [[nodiscard]] void* release() && noexcept {
    TASKBENCH_ASSERT(frame_ != nullptr,
                     "a Fork that was moved from, or awaited before, cannot be awaited");
    return std::exchange(frame_, nullptr);
  }

 private:
  friend class task::ForkPromise<T>;
  explicit Fork(void* frame) noexcept : frame_(frame) {}

  void* frame_;
};

namespace task {

template <class T>
inline constexpr bool kIsFork = false;
template <class T>
inline constexpr bool kIsFork<Fork<T>> = true;

/// An awaiter that await_transform() can return: g++ 12 copies one that is returned as a reference.
template <class Awaiter>
struct ForkJoinReference {
  Awaiter& awaiter;

  bool await_ready() const noexcept { return awaiter.await_ready(); }
  template <class Promise, bool by_tail_call = TASKBENCH_TAIL_CALLS>
  Strand::GoesOn<by_tail_call> await_suspend(std::coroutine_handle<Promise> awaiting) noexcept {
    return awaiter.template await_suspend<Promise, by_tail_call>(awaiting);
  }
  decltype(auto) await_resume() { return awaiter.await_resume(); }
};

template <class Awaitable>
auto ForkPromiseBase::await_transform(Awaitable&& awaitable) noexcept {
  using Bare = std::remove_cvref_t<Awaitable>;
  if constexpr (std::is_base_of_v<ForkJoinBase, Bare>) {
    return ForkJoinReference<Bare>{awaitable};
  } else if constexpr (kIsFork<Bare>) {
    return std::forward<Awaitable>(awaitable).operator co_await();
  } else {
    static_assert(kIsFork<Bare>,
                  "an rt::Fork awaits only other forks: what waits for tasks, channels, sockets or "
                  "timers belongs into an rt::Task, which may await forks");
    return std::suspend_never{};
  }
}

template <class T>
Fork<T> ForkPromise<T>::get_return_object() noexcept {
  return Fork<T>(checked(std::coroutine_handle<ForkPromise>::from_promise(*this).address()));
}
inline Fork<void> ForkPromise<void>::get_return_object() noexcept {
  return Fork<void>(checked(std::coroutine_handle<ForkPromise>::from_promise(*this).address()));
}

/// The result of a fork in a tuple.
template <class T>
using ForkOutput = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

/// A fork that is awaited by itself.
template <class T>
class [[nodiscard]] OneFork : public ForkJoinBase {
 public:
  explicit OneFork(Fork<T>&& fork) noexcept : frame_(std::move(fork).release()) {
    set_children(&frame_, 1);
  }
  ~OneFork() { std::coroutine_handle<>::from_address(frame_).destroy(); }

  T await_resume() {
    rethrow_first(&frame_, 1);
    return static_cast<T>(fork_promise<T>(frame_).take());
  }

 private:
  void* const frame_;
};

}  // namespace task

template <class T>
auto Fork<T>::operator co_await() && noexcept {
  return task::OneFork<T>(std::move(*this));
}

}  // namespace taskbench::rt
