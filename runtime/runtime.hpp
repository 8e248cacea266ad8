// The runtime's façade: what a user includes.
//
//   rt::Runtime runtime = rt::Runtime::Builder{}.workers(4).build();
//   int answer = runtime.block_on([]() -> rt::Task<int> {
//     rt::JoinHandle<int> half = rt::spawn(compute());
//     co_return co_await half + 21;
//   }());
//
// Wherever a Task is accepted, so is a function that returns one, usually a coroutine lambda:
//
//   rt::spawn([name]() -> rt::Task<> { co_await greet(name); });
//
// The function and its captures are kept for as long as the task runs. A lambda that the user
// calls, as in the first example, lives only until the end of that expression: pass what its
// coroutine needs beyond that as a parameter.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/blocking/spawn_blocking.hpp"
#include "runtime/scheduler/options.hpp"
#include "runtime/schedulers.hpp"
#include "runtime/task/awaitable.hpp"
#include "runtime/task/block_in_place.hpp"
#include "runtime/task/context.hpp"
#include "runtime/task/fork_join.hpp"
#include "runtime/task/join.hpp"
#include "runtime/task/join_handle.hpp"
#include "runtime/task/poll_fn.hpp"
#include "runtime/task/select.hpp"
#include "runtime/task/task.hpp"
#include "runtime/task/waker.hpp"
#include "runtime/task/yield.hpp"
#include "runtime/trace/counters.hpp"
#include "runtime/trace/trace.hpp"

namespace taskbench::rt {

/// More threads than any machine has CPUs; each takes a stack, and its queue takes memory at once.
inline constexpr unsigned kMostWorkers = 4'096;

namespace task {
/// The scheduler of the calling thread. Throws std::logic_error outside of every runtime.
[[nodiscard]] Spawner& current_scheduler();

/// Throws std::logic_error when the calling thread runs tasks, which a block_on would hold up.
void refuse_nested_block_on();

/// Holds `scheduler` until `root` has ended: the root may destroy all other owners.
Header* run_root(base::Ref<Spawner> scheduler, Header* root) noexcept;

template <class T>
T block_on(const base::Ref<Spawner>& scheduler, Task<T> task) {
  refuse_nested_block_on();
  // nullptr: run_root() sets the root's schedule.
  JoinHandle<T> root(run_root(scheduler, std::move(task).release_for_spawn(nullptr)));
  // The root has finished, so taking its output does not wait.
  return std::move(root).operator co_await().await_resume();
}

template <class T>
JoinHandle<T> spawn_on(Spawner& scheduler, Task<T> task) {
  Header* const header = std::move(task).release_for_spawn(&scheduler);
  scheduler.spawn(header);
  return JoinHandle<T>(header);
}
}  // namespace task

/// A copyable reference to a runtime's scheduler, usable from any thread and even after the runtime
/// has ended: tasks spawned then are cancelled at once.
class Handle {
 public:
  /// The runtime whose tasks the calling thread runs. Throws std::logic_error if there is none.
  [[nodiscard]] static Handle current();

  template <class T>
  JoinHandle<T> spawn(Task<T> task) const {
    return task::spawn_on(*scheduler(), std::move(task));
  }
  template <task::AsyncFunction Function>
  auto spawn(Function&& function) const {
    return spawn(task::as_task(std::forward<Function>(function)));
  }

  /// Like Runtime::block_on. Once the runtime has ended, an await on its timers or descriptors may
  /// never end.
  template <class T>
  T block_on(Task<T> task) const {
    return task::block_on(scheduler(), std::move(task));
  }
  template <class Awaitable>
  requires(task::Awaitable<Awaitable> ||
           task::AsyncFunction<Awaitable>) auto block_on(Awaitable&& awaitable) const {
    return block_on(task::as_task(std::forward<Awaitable>(awaitable)));
  }

  /// Like rt::spawn_blocking(), in this runtime.
  template <class Function>
  auto spawn_blocking(Function&& function) const {
    return blocking::spawn_on(*scheduler(), std::forward<Function>(function));
  }

 private:
  friend class Runtime;
  [[nodiscard]] const base::Ref<task::Spawner>& scheduler() const noexcept {
    TASKBENCH_ASSERT(scheduler_.get() != nullptr, "a Handle that was moved from cannot be used");
    return scheduler_;
  }
  explicit Handle(base::Ref<task::Spawner> scheduler) : scheduler_(std::move(scheduler)) {}

  base::Ref<task::Spawner> scheduler_;
};

/// A set of workers and the tasks they run. Movable. One thread at a time may call its functions,
/// except block_on, spawn, handle and stats, which several threads may call at once, and shutdown
/// in a task or a blocking call.
///
/// The destructor shuts the runtime down: it waits for running polls and blocking calls, and
/// cancels every other task.
class Runtime {
 public:
  class Builder;

  Runtime(Runtime&&) noexcept;
  Runtime& operator=(Runtime&&) noexcept;
  ~Runtime();

  /// Runs `task` on the calling thread until it ends; returns its value or throws its exception.
  /// On current_thread this call also runs all other tasks. Throws std::logic_error if the thread
  /// already runs tasks.
  template <class T>
  T block_on(Task<T> task) {
    return task::block_on(scheduler(), std::move(task));
  }
  /// Runs a function that returns a Task, or anything else that a task can await.
  template <class Awaitable>
  requires(task::Awaitable<Awaitable> ||
           task::AsyncFunction<Awaitable>) auto block_on(Awaitable&& awaitable) {
    return block_on(task::as_task(std::forward<Awaitable>(awaitable)));
  }

  template <class T>
  JoinHandle<T> spawn(Task<T> task) {
    return task::spawn_on(*scheduler(), std::move(task));
  }
  template <task::AsyncFunction Function>
  auto spawn(Function&& function) {
    return spawn(task::as_task(std::forward<Function>(function)));
  }

  /// Like rt::spawn_blocking(), in this runtime.
  template <class Function>
  auto spawn_blocking(Function&& function) {
    return handle().spawn_blocking(std::forward<Function>(function));
  }

  [[nodiscard]] Handle handle() const;
  [[nodiscard]] RuntimeStats stats() const;
  [[nodiscard]] unsigned worker_count() const noexcept;

  /// Waits for the running polls and blocking calls, cancels every other task, and ends the
  /// threads. When it returns, every task has been destroyed. Called in a task or a blocking call
  /// of this runtime, or in the destructor of one, it only begins the shutdown; likewise on
  /// current_thread while another thread is in block_on: that thread then ends the tasks.
  void shutdown();

  /// Like shutdown(), but returns false if polls or blocking calls are still running after `limit`;
  /// it may then be called again. If the runtime is destroyed instead, the threads run on by
  /// themselves, and the last worker cancels what is left. In a task or a blocking call of this
  /// runtime it returns false at once, and the destructor waits until `limit` has passed.
  bool shutdown_timeout(std::chrono::nanoseconds limit);

  /// The events recorded since the runtime was built, or since the last discard_trace(). Call it
  /// once shutdown() has ended everything. Throws std::logic_error if it has not, or if the runtime
  /// was built without Builder::trace().
  [[nodiscard]] Trace trace() const;

  /// Leaves the events recorded so far, such as a warm-up's, out of trace(). If workers are
  /// running, each row begins with its own next event. Does nothing without Builder::trace().
  void discard_trace();

 private:
  friend class Builder;
  struct Core;
  explicit Runtime(std::unique_ptr<Core> core) noexcept;
  [[nodiscard]] Core& core() const noexcept;
  [[nodiscard]] base::Ref<task::Spawner> scheduler() const noexcept;

  std::unique_ptr<Core> core_;
};

/// Makes a runtime. Each setter returns the builder.
class Runtime::Builder {
 public:
  /// One of rt::schedulers(), by its name. Throws std::invalid_argument for any other.
  Builder& scheduler(std::string_view name);
  /// `info` must outlive the builder.
  Builder& scheduler(const SchedulerInfo& info);
  /// Workers of a pool; 0 (the default) is one per CPU that the process may use. Throws
  /// std::invalid_argument for more than kMostWorkers.
  Builder& workers(unsigned count);
  /// Polls between two looks at the injector, > 0.
  Builder& global_queue_interval(std::uint32_t polls);
  Builder& lifo_slot(bool enabled);
  /// The seed of every random choice.
  Builder& seed(std::uint64_t seed);
  /// Records every scheduling event, for Runtime::trace(): the newest `events` of each worker, up
  /// to kMaxTraceEvents, rounded up to a power of two; each takes kTraceEventBytes. 0 (the default)
  /// records nothing, at no cost.
  Builder& trace(std::uint32_t events);
  /// Threads are named "<name>-<worker>", cut to the length that the system allows.
  Builder& thread_name(std::string name);
  /// The most threads for rt::spawn_blocking at one time, > 0; 512 by default. They are named
  /// "<name>-block". The count also limits the threads that stand in for blocked workers of
  /// work_stealing.
  Builder& max_blocking_threads(unsigned count);
  /// How long one of these threads is idle before it ends, >= 0; 10 s by default.
  Builder& blocking_idle_timeout(std::chrono::nanoseconds time);
  /// Called on each worker's thread before its first and after its last task. Must not throw. The
  /// threads that stand in for blocked workers are numbered from worker_count() on.
  Builder& on_thread_start(std::function<void(unsigned worker)> hook);
  Builder& on_thread_stop(std::function<void(unsigned worker)> hook);
  /// Called with each exception that ended a task, or a call of spawn_blocking, of this runtime and
  /// that nobody takes: the task was detached, or its JoinHandle is destroyed without having been
  /// awaited. A JoinError does not count, so aborts are not reported. Called on the thread on which
  /// the task ends or the handle is destroyed, perhaps after the runtime's end. Must not throw. By
  /// default, or if `hook` is empty, a line on stderr shows the exception's type and text.
  Builder& on_unhandled_exception(std::function<void(std::exception_ptr)> hook);

  /// Throws std::invalid_argument for a setting that makes no sense, and std::system_error when
  /// the system gives no more threads.
  [[nodiscard]] Runtime build() const;

 private:
  const SchedulerInfo* scheduler_ = &schedulers().front();
  RuntimeOptions options_;
};

/// Gives the memory of ended tasks and channels back to the system, and returns how many bytes.
/// Otherwise that memory is kept for new ones; a thread of its own gives back, a part at a time,
/// what has not been needed for about a second. Covers all runtimes of the process; any thread may
/// call it.
std::size_t trim_memory() noexcept;

/// Spawns on the runtime whose tasks the calling thread runs. Throws std::logic_error outside.
template <class T>
JoinHandle<T> spawn(Task<T> task) {
  return task::spawn_on(task::current_scheduler(), std::move(task));
}
template <task::AsyncFunction Function>
auto spawn(Function&& function) {
  return spawn(task::as_task(std::forward<Function>(function)));
}

}  // namespace taskbench::rt
