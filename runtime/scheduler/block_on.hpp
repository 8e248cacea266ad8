// block_on over a pool: the calling thread polls one task, the root, and sleeps in between.
#pragma once

#include "runtime/park/parker.hpp"
#include "runtime/task/harness.hpp"
#include "runtime/task/schedule.hpp"

namespace taskbench::rt::scheduler {

/// What a root is scheduled on: its own thread. Waking it gives the poll right back to the thread
/// by the parker's token, the last thing that a waker touches here.
class PoolRoot final : public task::Schedule {
 public:
  void schedule(task::Header*) noexcept override { parker_.unpark(); }
  void spawn(task::Header*) noexcept override {}
  void adopt(task::Header*) noexcept override {}
  void disown(task::Header*) noexcept override {}

  /// Polls `root`, which was released for this scheduler, to its end. `pool` is where rt::spawn
  /// goes meanwhile.
  void run(task::Header* root, task::Schedule& pool) noexcept;

 private:
  park::Parker parker_;
};

/// Throws std::logic_error when the calling thread is inside a runtime already.
void refuse_nested_runtime();

}  // namespace taskbench::rt::scheduler
