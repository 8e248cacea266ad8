// block_on over a pool whose workers have no threads: the calling thread, the driver, polls its
// root and runs the workers in turn. Of several threads in block_on one drives, and another takes
// over when it leaves.
//
// What runs when depends on the program and the seed alone, as long as no other thread takes part:
// no clock is asked and no thread waits for another. So a run can be repeated exactly: for counting
// instructions, and for looking at a schedule again.
#pragma once

#include "runtime/park/parker.hpp"
#include "runtime/scheduler/work_stealing/pool.hpp"
#include "runtime/task/harness.hpp"
#include "runtime/task/schedule.hpp"

namespace taskbench::rt::scheduler {

/// One call of block_on: what its root is scheduled on.
class InTurnRoot final : public task::Schedule {
 public:
  explicit InTurnRoot(work_stealing::Pool& pool) noexcept : pool_(pool) {}

  void schedule(task::Header*) noexcept override { parker_.unpark(); }
  void spawn(task::Header*) noexcept override {}
  void adopt(task::Header*) noexcept override {}
  void disown(task::Header*) noexcept override {}

  /// Polls `root`, which was released for this schedule, to its end; in between the workers.
  void run(task::Header* root) noexcept;

 private:
  work_stealing::Pool& pool_;
  park::Parker parker_;
};

}  // namespace taskbench::rt::scheduler
