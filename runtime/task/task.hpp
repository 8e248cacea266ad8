// rt::Task<T>: the coroutine that is awaited or spawned.
//
// A Task is lazy: nothing of it runs before it is awaited or spawned. It is moved, never copied,
// and destroying it before its end destroys the coroutine with all that it holds.
//
// A frame is aligned as operator new aligns, to 16 bytes: what needs more (alignas(64), vectors of
// 32 bytes) must not be a local variable or a parameter of a coroutine; put it behind a pointer.
// Compilers do not pass a frame's alignment to its operator new yet (C++ paper P2014).
#pragma once

#include <coroutine>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include "runtime/base/assert.hpp"
#include "runtime/task/leaf.hpp"

namespace taskbench::rt {

template <class T = void>
class Task;

namespace task {

/// What all promises share: the task that the coroutine belongs to, and the one that awaits it.
class PromiseBase {
 public:
  /// The task that this coroutine runs in. Valid while it runs.
  [[nodiscard]] Header* context() const noexcept { return context_; }

  /// The coroutine that awaits this one; null: none does, it is the outermost of its task or
  /// branch.
  [[nodiscard]] std::coroutine_handle<> continuation() const noexcept { return continuation_; }

  /// The promise of a coroutine that returns a Task: all have the same size and alignment, and so
  /// the same place.
  [[nodiscard]] static PromiseBase& of(std::coroutine_handle<> coroutine) noexcept {
    return std::coroutine_handle<PromiseBase>::from_address(coroutine.address()).promise();
  }

  void set_awaited(Header* context, std::coroutine_handle<> continuation) noexcept {
    context_ = context;
    continuation_ = continuation;
  }

  std::suspend_always initial_suspend() const noexcept { return {}; }

  struct FinalAwaiter {
    bool await_ready() const noexcept { return false; }
    template <class Promise, bool by_tail_call = TASKBENCH_TAIL_CALLS>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
      PromiseBase& promise = ended.promise();
      Header* const own = header_of(ended.address());
      if ((own->flags & Header::kFrameGone) != 0) [[unlikely]] {
        // A destructor threw while the coroutine was being destroyed: nobody waits for it.
        own->flags |= Header::kAtFinal;
        return std::noop_coroutine();
      }
      if (promise.continuation_) {
        return transfer_to<by_tail_call>(promise.continuation_, promise.context_);
      }
      promise.context_->disposition = Disposition::finished;
      return std::noop_coroutine();
    }
    void await_resume() const noexcept {}
  };
  FinalAwaiter final_suspend() const noexcept { return {}; }

 protected:
  /// Hides from the compiler that this address is the frame's: it could otherwise place the frame
  /// in the caller's, where there is no header before it, or treat what lies before the promise as
  /// out of bounds.
  static void* opaque(void* frame) noexcept {
    asm volatile("" : "+r"(frame));
    return frame;
  }

  static void store_exception(Header* own) noexcept;

 private:
  Header* context_ = nullptr;  // set before the first resume
  std::coroutine_handle<> continuation_;
};

template <class T>
struct OutputTraits {
  static_assert(!std::is_reference_v<T>, "return a pointer or std::reference_wrapper instead");
  static void destroy(Header* header) noexcept { std::destroy_at(output_of<T>(header)); }
  static constexpr VTable kVTable{std::is_trivially_destructible_v<T> ? nullptr : &destroy,
                                  prefix_bytes(sizeof(T))};
};
template <>
struct OutputTraits<void> {
  static constexpr VTable kVTable{nullptr, prefix_bytes(0)};
};

/// Whether the frame of a Task's coroutine may hold a T (see the top).
template <class T>
inline constexpr bool kFitsIntoFrame = alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;

template <class T>
class Promise;

template <class T>
class PromiseCommon : public PromiseBase {
 public:
  Task<T> get_return_object() noexcept;

  void unhandled_exception() noexcept { store_exception(own_header()); }

  static void* operator new(std::size_t bytes) {
    return allocate_frame(bytes, &OutputTraits<T>::kVTable);
  }
  // The block is freed through its header: it may outlive the coroutine.
  static void operator delete(void*, std::size_t) noexcept {}

 protected:
  Header* own_header() noexcept { return header_of(frame_address()); }
  void* frame_address() noexcept {
    return this->opaque(
        std::coroutine_handle<Promise<T>>::from_promise(static_cast<Promise<T>&>(*this)).address());
  }
};

template <class T>
class Promise : public PromiseCommon<T> {
 public:
  /// As `return` does, `co_return` converts implicitly: 5 is no vector of five elements.
  template <class U = T>
  requires std::is_convertible_v<U, T>
  void return_value(U&& value) noexcept(std::is_nothrow_constructible_v<T, U>) {
    Header* const own = this->own_header();
    std::construct_at(output_of<T>(own), std::forward<U>(value));
    own->outcome = Outcome::value;
  }
};

template <>
class Promise<void> : public PromiseCommon<void> {
 public:
  void return_void() noexcept { own_header()->outcome = Outcome::value; }
};

/// The promise of a coroutine with a parameter that may throw when it is moved into the frame. All
/// tasks would pay for it otherwise: chained_spawn executed 10 % more instructions. That a `const`
/// parameter is copied does not show in the function's type: such a copy that throws loses a block.
template <class T>
class PromiseWithThrowingParameters : public Promise<T> {
 public:
  // In the same class as the operator delete, as g++ warns of a mismatch otherwise.
  static void* operator new(std::size_t bytes) { return PromiseCommon<T>::operator new(bytes); }
  // Called also for a frame that never had a promise, whose block nobody else frees.
  static void operator delete(void* frame, std::size_t) noexcept {
    Header* const own = header_of(frame);
    if ((own->flags & Header::kFrameGone) == 0) free_task(own);
  }
};

/// Destroys a coroutine that was awaited or never started, unless it is gone already, and frees its
/// block. Exceptions of its destructors are lost, unless this thread is destroying a spawned task:
/// then that task gets them.
void end_unspawned(Header* own) noexcept;

/// Moves the output out of a finished coroutine, or throws its exception.
template <class T>
T take_output(Header* header);

[[noreturn]] void rethrow_failure(Header* header);

/// The awaiter of a Task inside another: runs it as a part of that task.
template <class T>
class [[nodiscard]] TaskAwaiter {
 public:
  explicit TaskAwaiter(Task<T>&& task) noexcept : awaited_(std::move(task).release()) {
    static_assert(sizeof(PromiseWithThrowingParameters<T>) == sizeof(PromiseBase));
    static_assert(alignof(Promise<T>) == alignof(PromiseBase));
  }
  ~TaskAwaiter() { end_unspawned(header()); }
  TaskAwaiter(const TaskAwaiter&) = delete;
  TaskAwaiter& operator=(const TaskAwaiter&) = delete;

  bool await_ready() const noexcept { return false; }
  template <class Awaiting, bool by_tail_call = TASKBENCH_TAIL_CALLS>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Awaiting> awaiting) noexcept {
    static_assert(std::is_base_of_v<PromiseBase, Awaiting>,
                  "only a coroutine that returns rt::Task may await an rt::Task");
    Header* const task = awaiting.promise().context();
    awaited_.promise().set_awaited(task, awaiting);
    return transfer_to<by_tail_call>(awaited_, task);
  }
  T await_resume() {
    // Destroyed here, so that coroutines are destroyed one at a time: the parameters of this one
    // may hold coroutines that have ended, and those may hold others.
    destroy_coroutine(header());
    return take_output<T>(header());
  }

 private:
  [[nodiscard]] Header* header() const noexcept { return header_of(awaited_.address()); }

  const std::coroutine_handle<Promise<T>> awaited_;
};

}  // namespace task

template <class T>
class [[nodiscard]] Task {
 public:
  using promise_type = task::Promise<T>;
  using value_type = T;

  Task(Task&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      destroy();
      frame_ = std::exchange(other.frame_, nullptr);
    }
    return *this;
  }
  Task(const Task&) = delete;  // it is given away instead: std::move(task)
  /// The copy that rt::spawn(task) of a variable would make: does not compile, and says why.
  template <bool never = false>
  Task(Task&) {
    static_assert(
        never,
        "an rt::Task runs once, and is given away: rt::spawn(std::move(task)), or rt::spawn the "
        "call that returns it; likewise for whatever else takes one");
    std::terminate();
  }
  Task& operator=(const Task&) = delete;
  ~Task() { destroy(); }

  /// Runs the coroutine as a part of the awaiting task. Returns its value or throws its exception;
  /// its parameters are gone by then. The Task is empty from here on.
  task::TaskAwaiter<T> operator co_await() && noexcept {
    return task::TaskAwaiter<T>(std::move(*this));
  }
  template <bool never = false>
  task::TaskAwaiter<T> operator co_await() const& {
    static_assert(
        never,
        "an rt::Task is awaited once, and given away by that: co_await std::move(task), or "
        "co_await the call that returns it");
    std::terminate();
  }

  /// For the runtime: where the coroutine is kept.
  [[nodiscard]] task::Header* header() const noexcept {
    TASKBENCH_ASSERT(frame_ != nullptr, "a Task that was moved from cannot be awaited");
    return task::header_of(frame_);
  }
  /// For the runtime: the coroutine runs inside `task` from here on, beside others.
  void become_branch_of(task::Header* task) noexcept {
    TASKBENCH_ASSERT(frame_ != nullptr, "a join or select is awaited once");
    auto& promise = handle().promise();
    // What the coroutine awaits would go on in the first task.
    TASKBENCH_ASSERT(promise.context() == nullptr || promise.context() == task,
                     "a join or select that has begun in one task goes on in no other");
    promise.set_awaited(task, {});
  }

  /// For the runtime: gives the coroutine up, as a header that is ready to be spawned.
  [[nodiscard]] task::Header* release_for_spawn(task::Schedule* scheduler) && noexcept {
    TASKBENCH_ASSERT(frame_ != nullptr, "a Task that was moved from cannot be spawned");
    const auto coroutine = handle();
    frame_ = nullptr;
    task::Header* const header = task::header_of(coroutine.address());
    coroutine.promise().set_awaited(header, {});
    header->flags = task::Header::kSpawned;
    header->scheduler = scheduler;
    task::resume_directly(header, coroutine);
    header->state.init_spawned();
    return header;
  }

 private:
  friend class task::PromiseCommon<T>;
  friend class task::TaskAwaiter<T>;
  explicit Task(void* frame) noexcept : frame_(frame) {}

  [[nodiscard]] std::coroutine_handle<promise_type> handle() const noexcept {
    return std::coroutine_handle<promise_type>::from_address(frame_);
  }
  [[nodiscard]] std::coroutine_handle<promise_type> release() && noexcept {
    TASKBENCH_ASSERT(frame_ != nullptr,
                     "a Task that was moved from, or awaited before, cannot be awaited");
    return std::coroutine_handle<promise_type>::from_address(std::exchange(frame_, nullptr));
  }
  void destroy() noexcept {
    if (frame_ == nullptr) return;
    task::end_unspawned(task::header_of(std::exchange(frame_, nullptr)));
  }

  void* frame_;
};

namespace task {

template <class T>
Task<T> PromiseCommon<T>::get_return_object() noexcept {
  void* const frame = this->frame_address();
  TASKBENCH_ASSERT(header_of(frame)->resume == reinterpret_cast<std::uintptr_t>(frame),
                   "g++ 12 misplaced a promise: it does so in a coroutine without local variables "
                   "that has co_await in the condition of an if, while or switch; declare a "
                   "variable for the awaited value");
  return Task<T>(frame);
}

template <class T>
T take_output(Header* header) {
  if (header->outcome != Outcome::value) rethrow_failure(header);
  if constexpr (!std::is_void_v<T>) {
    // The value stays, moved from, until the header ends.
    return std::move(*output_of<T>(header));
  }
}

}  // namespace task
}  // namespace taskbench::rt

template <class T, class... Parameters>
requires(!(std::is_nothrow_move_constructible_v<Parameters> &&
           ...)) struct std::coroutine_traits<taskbench::rt::Task<T>, Parameters...> {
  using promise_type = taskbench::rt::task::PromiseWithThrowingParameters<T>;
};
