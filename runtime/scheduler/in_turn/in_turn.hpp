// work_stealing without its threads: the thread that calls block_on, the driver, polls its root and
// runs the workers in turn, drawn from the seed. Of several threads in block_on one drives, and
// another takes over when it leaves.
//
// The schedule depends on the program and the seed alone, as long as no other thread takes part: no
// decision rests on a clock, and no thread waits for another. So a run can be repeated exactly: for
// counting instructions, and for looking at a schedule again. Tasks that other threads spawn or
// wake may wait for a tenth of a millisecond.
//
// Shutdown: the driver drains once the engine is closed; if there is no driver, join() drains. A
// shutdown in the destructor of a task that is being cancelled only begins, as one in a task does.
#pragma once

#include <utility>

#include "runtime/base/random.hpp"
#include "runtime/base/shared.hpp"
#include "runtime/base/sync_primitives.hpp"
#include "runtime/park/parker.hpp"
#include "runtime/scheduler/work_stealing/worker_set.hpp"
#include "runtime/task/context.hpp"
#include "runtime/task/frame_cache.hpp"

namespace taskbench::rt::work_stealing {

class InTurn final : public WorkerSet {
 public:
  [[nodiscard]] static base::Ref<InTurn> make(RuntimeOptions options) {
    return base::Ref<InTurn>(new InTurn(std::move(options)));
  }

  void run_root(task::Header* root) noexcept override;
  [[nodiscard]] bool join(Clock::time_point deadline) noexcept override;
  [[nodiscard]] bool has_ended() noexcept override;

 private:
  class Root;

  explicit InTurn(RuntimeOptions options)
      : WorkerSet(std::move(options), Worker::Pace::none), random_(this->options().seed) {}

  /// Makes the calling thread the driver. False: there is one already.
  [[nodiscard]] bool try_drive() noexcept;
  /// Lets one worker run a task: the first that has one, beginning with a worker drawn from the
  /// seed. False: none has. Drains if the engine is closed. Driver only, and not in the poll of a
  /// task.
  [[nodiscard]] bool take_turn() noexcept;
  void leave() noexcept;

  base::Mutex driver_mutex_;
  const task::ThreadContext* driver_ TASKBENCH_GUARDED_BY(driver_mutex_) = nullptr;
  bool drains_ TASKBENCH_GUARDED_BY(driver_mutex_) = false;  // or has drained
  bool drained_ TASKBENCH_GUARDED_BY(driver_mutex_) = false;
  park::Parker joiner_;                      // unguarded: of the thread in join()
  base::FastRandom random_;                  // unguarded: the driver's
  task::KeepsIdleBlocks keeps_idle_blocks_;  // unguarded: never accessed
};

}  // namespace taskbench::rt::work_stealing
