// What workers that steal from each other share, whoever runs them: threads of their own (Pool), or
// one thread in turn (InTurn).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/base/sync_primitives.hpp"
#include "runtime/driver/wheel.hpp"
#include "runtime/queue/injector.hpp"
#include "runtime/scheduler/engine.hpp"
#include "runtime/scheduler/work_stealing/idle.hpp"
#include "runtime/scheduler/work_stealing/worker.hpp"
#include "runtime/task/owned_tasks.hpp"

namespace taskbench::rt::work_stealing {

class WorkerSet : public scheduler::Engine {
 public:
  void schedule(task::Header* task) noexcept final;
  void spawn(task::Header* task) noexcept final;
  void adopt(task::Header* task) noexcept final;
  void disown(task::Header* task) noexcept final;

  [[nodiscard]] driver::Wheel& timers() noexcept final;

  void close() noexcept final;
  [[nodiscard]] RuntimeStats stats() const final;
  [[nodiscard]] trace::Recording& recording() noexcept final { return recording_; }

  [[nodiscard]] bool closed() const noexcept {
    return closed_.load(base::acquire);  // acquire: pairs with the release in close()
  }
  [[nodiscard]] const RuntimeOptions& options() const noexcept { return options_; }
  [[nodiscard]] std::uint32_t worker_count() const noexcept { return options_.workers; }
  [[nodiscard]] Worker& worker(std::size_t index) noexcept { return *workers_[index]; }

  // For workers.
  queue::Injector<task::Header> injector;
  Idle idle;

  /// A worker published a task: wakes another if the rules ask for it.
  void notify_from(Worker& worker) noexcept;
  /// After a fence: wakes a worker if there is work to be seen anywhere.
  void notify_if_work_is_visible(Worker& worker) noexcept;

 protected:
  /// `options.workers` > 0. Nothing runs yet.
  WorkerSet(RuntimeOptions options, Worker::Pace pace);

  /// The worker that the calling thread runs, if any.
  [[nodiscard]] Worker* local_worker() const noexcept;
  /// Cancels every task, also those that are on their way here. Once closed, by one thread, while
  /// no worker runs.
  void drain() noexcept;

 private:
  void notify_from_outside() noexcept;
  [[nodiscard]] bool work_is_visible() const noexcept;
  void unpark(std::uint32_t index, Worker& from) noexcept;

  const RuntimeOptions options_;
  trace::Recording recording_;
  task::OwnedTasks owned_;
  std::vector<std::unique_ptr<Worker>> workers_;
  trace::CounterBlock outside_;       // written under the injector's lock
  trace::Recorder outside_recorder_;  // the same
  base::Atomic<bool> closed_{false};
};

}  // namespace taskbench::rt::work_stealing
