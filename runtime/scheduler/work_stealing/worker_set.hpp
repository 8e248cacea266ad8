// The common part of workers that steal from each other, whether they run on threads of their own
// (Pool) or in turn on one thread (InTurn).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/base/sync_primitives.hpp"
#include "runtime/driver/wheel.hpp"
#include "runtime/scheduler/engine.hpp"
#include "runtime/scheduler/work_stealing/idle.hpp"
#include "runtime/scheduler/work_stealing/policy.hpp"
#include "runtime/scheduler/work_stealing/worker.hpp"

namespace taskbench::rt::work_stealing {

class WorkerSet : public scheduler::Engine {
 public:
  void schedule(task::Header* task) noexcept override;
  void spawn(task::Header* task) noexcept override;
  void adopt(task::Header* task) noexcept final;
  void disown(task::Header* task) noexcept final;

  [[nodiscard]] driver::Wheel& timers() noexcept final;

  void close() noexcept override;
  [[nodiscard]] RuntimeStats stats() const final;
  [[nodiscard]] trace::Recording& recording() noexcept final { return recording_; }

  [[nodiscard]] bool closed() const noexcept {
    return closed_.load(base::acquire);  // acquire: pairs with the release in close()
  }
  [[nodiscard]] const RuntimeOptions& options() const noexcept { return options_; }
  [[nodiscard]] std::uint32_t worker_count() const noexcept { return options_.workers; }
  [[nodiscard]] Worker& worker(std::size_t index) const noexcept {
    return *workers_[index].load(base::acquire);  // acquire: pairs with the release in take_over()
  }

  // For workers.
  Policy::Injector injector;
  Idle idle;  // also weighs the fences of all workers

  /// Wakes another worker, if the rules ask for it, for a task that `worker` has published.
  void notify_from(Worker& worker) noexcept {
    const std::uint32_t index = idle.worker_to_notify(Idle::Pusher::worker);
    if (index != Idle::kNobody) [[unlikely]]
      unpark(index, worker);
  }
  /// Wakes a worker if work is visible anywhere. After a fence.
  void notify_if_work_is_visible(Worker& worker) noexcept;

 protected:
  /// `options.workers` > 0. Nothing runs yet.
  WorkerSet(RuntimeOptions options, Worker::Pace pace);

  /// The worker that the calling thread runs, if any.
  [[nodiscard]] Worker* local_worker() const noexcept;
  /// Lets another worker of the same index take the place of `blocked`, whose lease held `seen`;
  /// nullptr: the lease holds another word by now, or the engine is closed, or there is no memory
  /// for a worker.
  [[nodiscard]] Worker* take_over(Worker& blocked, std::uint32_t seen) noexcept;
  /// Moves the tasks that `worker` has queued since it was handed off to the injector. It has
  /// resigned, and its thread has left it.
  void retire(Worker& worker) noexcept;
  /// Cancels every task, including those on their way to a queue. Call it once the engine is
  /// closed, from one thread, while no worker runs.
  void drain() noexcept;

  mutable base::Mutex mutex_;  // guards all_, retired_, and members of Pool

 private:
  /// For the drain: no worker is added once the engine is closed. Unchecked, as the workers must
  /// not be drained under the mutex.
  [[nodiscard]] const std::vector<std::unique_ptr<Worker>>& all_when_closed() const noexcept
      TASKBENCH_UNCHECKED {
    return all_;
  }
  /// One of retired_ that has this index, made now if there is none; nullptr: there is no memory.
  [[nodiscard]] Worker* spare_worker(std::uint32_t index) noexcept TASKBENCH_REQUIRES(mutex_);
  void notify_from_outside() noexcept;
  [[nodiscard]] bool work_is_visible() const noexcept;
  void unpark(std::uint32_t index, Worker& from) noexcept;

  const RuntimeOptions options_;
  trace::Recording recording_;
  Policy::OwnedTasks owned_;
  std::unique_ptr<base::Atomic<Worker*>[]> workers_;  // the current ones, by index
  /// Includes those handed off.
  std::vector<std::unique_ptr<Worker>> all_ TASKBENCH_GUARDED_BY(mutex_);
  /// Has room for all_, once one has been added: before that, none is handed off.
  std::vector<Worker*> retired_ TASKBENCH_GUARDED_BY(mutex_);
  trace::CounterBlock outside_;       // written under the injector's lock
  trace::Recorder outside_recorder_;  // written under the injector's lock
  base::Atomic<bool> closed_{false};
};

}  // namespace taskbench::rt::work_stealing
