// The work-stealing scheduler: a thread for each worker.
//
// Shutdown: close() refuses new tasks and wakes everybody; each worker finishes its current poll
// and leaves; the last one to leave cancels all that is left, in drain(). Nobody waits for a task
// that is not being polled.
#pragma once

#include <cstdint>
#include <utility>

#include "runtime/base/shared.hpp"
#include "runtime/scheduler/work_stealing/worker_set.hpp"
#include "runtime/scheduler/worker_threads.hpp"

namespace taskbench::rt::work_stealing {

class Pool final : public WorkerSet, private scheduler::WorkerThreads::Work {
 public:
  /// With its threads started. Throws std::system_error if the system gives no more threads; those
  /// that were started have then been stopped.
  [[nodiscard]] static base::Ref<Pool> make(RuntimeOptions options);

  void run_root(task::Header* root) noexcept override;
  [[nodiscard]] bool join(Clock::time_point deadline) noexcept override;
  void detach() noexcept override { threads_.detach(); }
  [[nodiscard]] bool has_ended() noexcept override { return threads_.has_ended(); }

 private:
  explicit Pool(RuntimeOptions options) : WorkerSet(std::move(options), Worker::Pace::clock) {}

  void run_worker(std::uint32_t index) noexcept override;
  void drain() noexcept override { WorkerSet::drain(); }

  scheduler::WorkerThreads threads_;
};

/// The same for who knows nothing but the namespace: runtime/ladder.cpp.
[[nodiscard]] base::Ref<scheduler::Engine> make(RuntimeOptions options);

}  // namespace taskbench::rt::work_stealing
