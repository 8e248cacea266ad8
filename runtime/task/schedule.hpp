// What a task needs from the scheduler that it was spawned on: the interface upward.
#pragma once

#include "runtime/base/shared.hpp"
#include "runtime/task/unhandled_exceptions.hpp"

namespace taskbench::rt::driver {
class Driver;
class Wheel;
}  // namespace taskbench::rt::driver

namespace taskbench::rt::task {

struct Header;

/// Where a task is queued when it is woken. The root of a block_on has a Schedule of its own, which
/// does no more than that: the thread in block_on owns the root.
class Schedule {
 public:
  /// Queues a task that was made runnable. The caller hands over the poll right. Any thread.
  virtual void schedule(Header* task) noexcept = 0;

  /// Called by the holder of the poll right before an idle task is let go, unless it is owned
  /// already: a scheduler links it into its list of owned tasks.
  virtual void adopt(Header*) noexcept {}

  /// Called once a task that was adopted has completed: the scheduler unlinks it.
  virtual void disown(Header*) noexcept {}

  /// Reports exceptions that ended a task and that nobody takes; null: they are not reported.
  [[nodiscard]] virtual base::Ref<UnhandledExceptions> unhandled_exceptions() const noexcept {
    return {};
  }

 protected:
  ~Schedule() = default;
};

/// Learns of a task's end in place of a task that awaits its JoinHandle: a JoinSet. Owned jointly:
/// the trailer's ownership ends with either call, on any thread.
class JoinListener {
 public:
  /// The task is complete.
  virtual void on_complete(Header* task) noexcept = 0;
  /// The JoinHandle was dropped first.
  virtual void on_detach() noexcept = 0;

 protected:
  ~JoinListener() = default;
};

/// The target of rt::spawn: a scheduler as tasks and Handles see it.
/// Owned jointly by everything that may still spawn, such as Handles.
class Spawner : public Schedule, public base::Shared {
 public:
  virtual ~Spawner() = default;

  /// Takes a new task, with its poll right. After shutdown the task is cancelled, at once or with
  /// the remaining ones. Any thread.
  virtual void spawn(Header* task) noexcept = 0;

  /// Takes a blocking call, as a task that never suspends, and runs it where it holds up no other
  /// task. After shutdown it is cancelled. Throws std::system_error, with `call` cancelled, if the
  /// system gives no thread. Any thread.
  virtual void spawn_blocking(Header* call) = 0;

  /// The task that the calling thread polls begins a section that may block the thread, unless it
  /// is in one: the worker may be handed to another thread. Returns the argument for
  /// end_blocking(); nullptr: nothing was done.
  [[nodiscard]] virtual void* begin_blocking() noexcept { return nullptr; }
  /// The end of a section.
  virtual void end_blocking(void* /*begun*/) noexcept {}

  /// Whether its workers steal forks from each other (ThreadContext::strand).
  [[nodiscard]] virtual bool shares_forks() const noexcept { return false; }

  /// Runs `root`, the task of a block_on, on the calling thread, which is in no runtime, until it
  /// has finished. The root has never been polled and gets its schedule here. Several threads may
  /// be in here at once.
  virtual void run_root(Header* root) noexcept = 0;

  /// The driver in which the engine's threads sleep, and which wakes tasks for descriptors and
  /// timers.
  [[nodiscard]] virtual driver::Driver& driver() noexcept = 0;
  /// The timers of the worker that the calling thread runs, which then owns them; or else those
  /// without an owner.
  [[nodiscard]] virtual driver::Wheel& timers() noexcept = 0;
};

}  // namespace taskbench::rt::task
