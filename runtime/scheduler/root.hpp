// block_on beside workers that have threads of their own: the calling thread polls one task, the
// root, and sleeps in between.
#pragma once

#include "runtime/park/parker.hpp"
#include "runtime/scheduler/engine.hpp"
#include "runtime/task/harness.hpp"

namespace taskbench::rt::scheduler {

/// What a root is scheduled on: its own thread. Waking it gives the poll right back to the thread
/// by the parker's token, the last thing that a waker touches here.
class Root final : public task::Schedule {
 public:
  void schedule(task::Header*) noexcept override { parker_.unpark(); }

  /// Polls `root`, which was released for this schedule, to its end. `engine` is where rt::spawn
  /// goes meanwhile.
  void run(task::Header* root, Engine& engine) noexcept;

 private:
  park::Parker parker_;
};

}  // namespace taskbench::rt::scheduler
