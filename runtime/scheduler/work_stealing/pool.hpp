// The work-stealing scheduler: a thread for each worker.
//
// Shutdown: close() refuses new tasks and wakes everybody; each worker finishes its current poll
// and leaves; the last one to leave cancels all that is left, in drain(). Nobody waits for a task
// that is not being polled.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/base/shared.hpp"
#include "runtime/base/sync_primitives.hpp"
#include "runtime/scheduler/work_stealing/worker_set.hpp"

namespace taskbench::rt::work_stealing {

class Pool final : public WorkerSet {
 public:
  /// With its threads started. Throws std::system_error if the system gives no more threads; those
  /// that were started have then been stopped.
  [[nodiscard]] static base::Ref<Pool> make(RuntimeOptions options);

  void run_root(task::Header* root) noexcept override;
  [[nodiscard]] bool join(Clock::time_point deadline) noexcept override;
  void detach() noexcept override;
  [[nodiscard]] bool has_ended() noexcept override;

 private:
  explicit Pool(RuntimeOptions options) : WorkerSet(std::move(options), Worker::Pace::clock) {}
  void start();
  void thread_main(std::uint32_t index) noexcept;

  std::vector<base::Thread> threads_;
  base::Mutex exit_mutex_;
  std::uint32_t running_ = 0;  // workers that have not left; guarded by exit_mutex_
  park::Parker joiner_;        // of the thread in join()
};

}  // namespace taskbench::rt::work_stealing
