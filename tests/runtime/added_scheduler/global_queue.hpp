// One queue that all workers share, each on a thread of its own: the plainest scheduler that uses
// several CPUs, and what work_stealing has to beat. add_scheduler_test.py adds it to a copy of the
// project, in runtime/scheduler/global_queue/.
//
// Threads: schedule, spawn and close by any; run_worker by the worker's own.
//
// Shutdown: close() wakes everybody; each worker ends its poll and leaves; the last one cancels
// what is left.
//
// Invariants
//   G1  sleeping_, closed_ and running_ are guarded by the queue's mutex.
//   G2  A worker is put into sleeping_ under that mutex while the queue is empty, and is taken out
//       by whoever wakes it: so no push misses a sleeper.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/base/shared.hpp"
#include "runtime/base/sync_primitives.hpp"
#include "runtime/park/parker.hpp"
#include "runtime/queue/injector.hpp"
#include "runtime/scheduler/engine.hpp"
#include "runtime/task/owned_tasks.hpp"
#include "runtime/trace/counters.hpp"
#include "runtime/trace/recording.hpp"

namespace taskbench::rt::scheduler {

class GlobalQueue final : public Engine {
 public:
  /// With its threads started.
  [[nodiscard]] static base::Ref<GlobalQueue> make(RuntimeOptions options);

  void schedule(task::Header* task) noexcept override;
  void spawn(task::Header* task) noexcept override;
  void adopt(task::Header* task) noexcept override { owned_.insert(task, 0); }
  void disown(task::Header* task) noexcept override { owned_.remove(task); }

  void run_root(task::Header* root) noexcept override;
  void close() noexcept override;
  [[nodiscard]] bool join(Clock::time_point deadline) noexcept override;
  void detach() noexcept override;
  [[nodiscard]] bool has_ended() noexcept override;

  [[nodiscard]] RuntimeStats stats() const override;
  [[nodiscard]] trace::Recording& recording() noexcept override { return recording_; }

 private:
  struct Worker {
    park::Parker parker;
    trace::CounterBlock counters;
    trace::Recorder recorder;
  };

  explicit GlobalQueue(RuntimeOptions options);

  bool push(task::Header* task, queue::Admit admit) noexcept;
  void run_worker(Worker& worker) noexcept;
  void run_task(Worker& worker, task::Header* task) noexcept;
  /// Sleeps if there is nothing to do. False: the engine is closed.
  bool wait(Worker& worker) noexcept;
  void leave() noexcept;
  void drain() noexcept;

  trace::Recording recording_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<base::Thread> threads_;
  queue::Injector<task::Header> queue_;
  std::vector<Worker*> sleeping_;
  bool closed_ = false;
  std::uint32_t running_ = 0;  // workers that have not left
  park::Parker joiner_;        // of the thread in join()
  task::OwnedTasks owned_;
};

}  // namespace taskbench::rt::scheduler
