// block_on beside workers that have threads of their own: the calling thread polls one task, the
// root, and sleeps in between.
#pragma once

#include "runtime/driver/driver.hpp"
#include "runtime/park/parker.hpp"
#include "runtime/scheduler/engine.hpp"
#include "runtime/task/harness.hpp"

namespace taskbench::rt::scheduler {

/// Schedules a root on its own thread. Waking the root gives the poll right back to the thread by
/// the parker's token, the last thing that a waker touches here.
class Root final : public task::Schedule {
 public:
  /// `engine` is the target of rt::spawn in the root.
  explicit Root(Engine& engine) noexcept : engine_(engine), parker_(engine.driver().reserve()) {}

  void schedule(task::Header*) noexcept override {
    // The root keeps the engine, and with it the driver, alive until it has the token.
    const base::Ref<Engine> keep(&engine_);
    parker_.unpark();
  }

  /// Polls `root` to its end.
  void run(task::Header* root) noexcept;

 private:
  void sleep() noexcept;

  Engine& engine_;
  park::Parker parker_;
};

}  // namespace taskbench::rt::scheduler
