// Counts and records what threads that are not its workers do with an engine.
//
// Threads: any.
//
// Invariants
//   O1  Everything here is guarded by lock_.
//   O2  After close() nothing is counted, recorded or admitted: all records are older than the
//       drain, so that a trace can be read once the drain has ended.
#pragma once

#include <cstdint>

#include "runtime/base/sync_primitives.hpp"
#include "runtime/task/header.hpp"
#include "runtime/trace/counters.hpp"
#include "runtime/trace/recording.hpp"

namespace taskbench::rt::scheduler {

class Outside {
 public:
  explicit Outside(trace::Recorder recorder) noexcept : recorder_(recorder) {}

  /// Counts a new task, which `push` then queues. False: the engine is closed.
  template <class Push>
  [[nodiscard]] bool spawn(task::Header* task, Push&& push) noexcept {
    if (!begin_spawn(task)) return false;
    push();
    end_spawn();
    return true;
  }

  /// Counts a task that was admitted before and is about to be queued.
  void wake(task::Header* task) noexcept {
    const base::SpinGuard guard(lock_);
    if (closed_) return;
    counters_.remote_schedules.add();
    recorder_.wake(task);
  }

  /// Counts the coming wake-up of worker `index`.
  void notify(std::uint32_t index) noexcept {
    const base::SpinGuard guard(lock_);
    if (closed_) return;
    counters_.unparks.add();
    recorder_.notify(index);
  }

  void close() noexcept {
    const base::SpinGuard guard(lock_);
    closed_ = true;
  }

  /// Whether some thread is still about to queue a task that was admitted.
  [[nodiscard]] bool is_spawning() noexcept {
    const base::SpinGuard guard(lock_);
    return on_their_way_ != 0;
  }

  [[nodiscard]] WorkerCounters counters() const noexcept { return counters_.snapshot(); }

 private:
  // Separate functions, as clang does not check the locks of a template.
  [[nodiscard]] bool begin_spawn(task::Header* task) noexcept {
    const base::SpinGuard guard(lock_);
    if (closed_) return false;
    counters_.tasks_spawned.add();
    counters_.remote_schedules.add();
    recorder_.spawn(task);
    ++on_their_way_;
    return true;
  }
  void end_spawn() noexcept {
    const base::SpinGuard guard(lock_);
    --on_their_way_;
  }

  base::SpinLock lock_;
  bool closed_ TASKBENCH_GUARDED_BY(lock_) = false;
  /// New tasks that were counted and are not queued yet.
  std::uint32_t on_their_way_ TASKBENCH_GUARDED_BY(lock_) = 0;
  trace::CounterBlock counters_;  // unguarded: written under lock_, read at any time
  trace::Recorder recorder_ TASKBENCH_GUARDED_BY(lock_);
};

}  // namespace taskbench::rt::scheduler
