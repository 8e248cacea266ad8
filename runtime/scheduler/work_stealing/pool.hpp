// The work-stealing scheduler: what its workers share.
//
// Owned jointly by the Runtime, its Handles and its worker threads; a waker does not own it. A
// thread that wakes a task of this pool from outside holds on to the pool only while it queues the
// task: until then the task, which cannot complete, keeps the pool's shutdown waiting.
//
// In turn (SchedulerKind::in_turn) there are no threads: the one in block_on, the driver, runs the
// workers by take_turn(). It also drains when the pool is closed; where there is none, join() does.
//
// Shutdown: close() refuses new tasks and wakes everybody; each worker finishes its current poll
// and leaves; the last one to leave cancels all that is left, in drain(). Nobody waits for a task
// that is not being polled.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/base/random.hpp"
#include "runtime/base/sync_primitives.hpp"
#include "runtime/queue/injector.hpp"
#include "runtime/scheduler/options.hpp"
#include "runtime/scheduler/work_stealing/idle.hpp"
#include "runtime/scheduler/work_stealing/worker.hpp"
#include "runtime/task/owned_tasks.hpp"
#include "runtime/task/schedule.hpp"
#include "runtime/trace/recording.hpp"

namespace taskbench::rt::work_stealing {

class Pool final : public task::Schedule, public std::enable_shared_from_this<Pool> {
 public:
  /// `options.workers` > 0. The pool runs nothing until start().
  explicit Pool(RuntimeOptions options);
  ~Pool();

  /// Starts the threads. Throws std::system_error if the system gives no more threads; those
  /// that were started have then been stopped.
  void start();

  void schedule(task::Header* task) noexcept override;
  void spawn(task::Header* task) noexcept override;
  void adopt(task::Header* task) noexcept override;
  void disown(task::Header* task) noexcept override;
  std::shared_ptr<task::Schedule> shared() noexcept override { return shared_from_this(); }

  [[nodiscard]] bool runs_in_turn() const noexcept {
    return options_.scheduler == SchedulerKind::in_turn;
  }
  /// Makes the calling thread the driver. False: there is one.
  [[nodiscard]] bool try_begin_turns() noexcept;
  /// One worker, drawn from the seed, runs a task. False: there was none anywhere. Drains when the
  /// pool is closed. Driver only, and not in the poll of a task.
  [[nodiscard, gnu::cold]] bool take_turn() noexcept;
  void end_turns() noexcept;

  /// Begins the shutdown. Any thread, any number of times.
  void close() noexcept;
  /// Waits until all workers have left. False, and may be called again: on a worker of this pool,
  /// which cannot wait for itself, and when the time runs out.
  [[nodiscard]] bool join(std::chrono::steady_clock::time_point deadline =
                              std::chrono::steady_clock::time_point::max()) noexcept;
  /// Leaves the threads to end by themselves.
  void detach() noexcept;

  [[nodiscard]] bool closed() const noexcept {
    return closed_.load(base::acquire);  // acquire: pairs with the release in close()
  }
  [[nodiscard]] const RuntimeOptions& options() const noexcept { return options_; }
  [[nodiscard]] std::uint32_t worker_count() const noexcept { return options_.workers; }
  [[nodiscard]] Worker& worker(std::size_t index) noexcept { return *workers_[index]; }
  [[nodiscard]] WorkerCounters outside_counters() const noexcept { return outside_.snapshot(); }
  [[nodiscard]] trace::Recording& recording() noexcept { return recording_; }
  /// True: all workers have left, and what they have written can be read.
  [[nodiscard]] bool has_ended() noexcept;

  // For workers.
  queue::Injector<task::Header> injector;
  Idle idle;

  /// A worker published a task: wakes another if the rules ask for it.
  void notify_from(Worker& worker) noexcept;
  /// After a fence: wakes a worker if there is work to be seen anywhere.
  void notify_if_work_is_visible(Worker& worker) noexcept;
  [[nodiscard]] bool work_is_visible() const noexcept;

 private:
  [[nodiscard]] Worker* local_worker() const noexcept;
  void notify_from_outside() noexcept;
  void thread_main(std::uint32_t index) noexcept;
  void drain() noexcept;
  [[nodiscard]] bool join_in_turn(std::chrono::steady_clock::time_point deadline) noexcept;
  void unpark_all() noexcept;

  const RuntimeOptions options_;
  trace::Recording recording_;
  task::OwnedTasks owned_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<base::Thread> threads_;
  trace::CounterBlock outside_;       // written under the injector's lock
  trace::Recorder outside_recorder_;  // the same
  base::Atomic<bool> closed_{false};

  base::Mutex exit_mutex_;
  base::CondVar exit_changed_;
  std::uint32_t running_ = 0;  // workers that have not left; guarded by exit_mutex_

  // In turn only; guarded by exit_mutex_, but for the random numbers, which are the driver's.
  const task::ThreadContext* driver_ = nullptr;
  bool drained_ = false;
  base::FastRandom random_;
};

}  // namespace taskbench::rt::work_stealing
