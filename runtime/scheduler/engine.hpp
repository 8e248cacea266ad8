// A scheduler as the façade sees it. Each has a folder beside this file and a row in
// runtime/schedulers.cpp; no code above knows which one it has.
//
// Owned jointly by the Runtime, its Handles and its threads, if any. A waker does not own the
// engine: a thread that wakes a task from outside holds on to it only while it queues the task;
// until then the task, which cannot complete, keeps the shutdown waiting.
#pragma once

#include "runtime/base/shared.hpp"
#include "runtime/base/sync_primitives.hpp"
#include "runtime/blocking/pool.hpp"
#include "runtime/driver/driver.hpp"
#include "runtime/scheduler/options.hpp"
#include "runtime/task/header.hpp"
#include "runtime/task/schedule.hpp"
#include "runtime/trace/counters.hpp"
#include "runtime/trace/recording.hpp"

namespace taskbench::rt::scheduler {

class Engine : public task::Spawner {
 public:
  using Clock = base::Clock;

  void spawn_blocking(task::Header* call) override { blocking_.run(call); }
  [[nodiscard]] blocking::Pool& blocking_pool() noexcept { return blocking_; }
  [[nodiscard]] driver::Driver& driver() noexcept final { return *driver_; }

  [[nodiscard]] base::Ref<task::UnhandledExceptions> unhandled_exceptions() const noexcept final {
    return unhandled_exceptions_;
  }

  /// Begins the shutdown: refuses later spawns and wakes all sleeping threads; the scheduler then
  /// cancels every task that is not being polled. Any thread, any number of times.
  virtual void close() noexcept = 0;

  /// After close(): waits until no task is left. Returns false, and may be called again, if called
  /// in a task of this engine, which cannot wait for itself, or if `deadline` passes first. One
  /// thread at a time may wait; a task, or a call with time_point::min(), does not wait.
  [[nodiscard]] virtual bool join(Clock::time_point deadline) noexcept = 0;

  /// Instead of another join(): leaves the threads, if there are any, to end by themselves.
  virtual void detach() noexcept {}

  /// Whether no task can run any more, so that the workers' data can be read.
  [[nodiscard]] virtual bool has_ended() noexcept = 0;

  [[nodiscard]] virtual RuntimeStats stats() const = 0;
  [[nodiscard]] virtual trace::Recording& recording() noexcept = 0;

 protected:
  explicit Engine(const RuntimeOptions& options)
      : blocking_(*this, {.max_threads = options.max_blocking_threads,
                          .idle_timeout = options.blocking_idle_timeout,
                          .thread_name = options.name_of_thread("block")}),
        driver_(new driver::Driver(options.workers)),
        unhandled_exceptions_(new task::UnhandledExceptions(options.on_unhandled_exception)) {}

 private:
  blocking::Pool blocking_;
  const base::Ref<driver::Driver> driver_;
  const base::Ref<task::UnhandledExceptions> unhandled_exceptions_;
};

}  // namespace taskbench::rt::scheduler
