// A machine (the M of G, M and P): a thread. It runs tasks while it holds a processor; without one
// it sleeps, either because there is nothing to do or because it waits to go on after a blocking
// section.
//
// Threads: the machine's own, except for what go.hpp's mutex guards.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/cell.hpp"
#include "runtime/base/sync_primitives.hpp"
#include "runtime/park/parker.hpp"
#include "runtime/scheduler/go/processor.hpp"
#include "runtime/task/harness.hpp"

namespace taskbench::rt::go {

class Go;

class Machine {
 public:
  explicit Machine(Go& go) noexcept;

  /// Runs tasks until the engine closes. The thread's context names this machine.
  void run() noexcept;

  /// The processor that this machine holds; nullptr in a blocking section.
  [[nodiscard]] Processor* processor() const noexcept { return processor_; }

  /// Queues a task that was made runnable by the task that this machine is polling.
  void schedule_local(task::Header* task) noexcept;

  void begin_blocking() noexcept;
  void end_blocking() noexcept;

  park::Parker parker;

  // Guarded by the engine's mutex: the list that the machine is in, and the processor it is given.
  Machine* queue_next = nullptr;
  Processor* given = nullptr;
  base::Cell<bool> given_searching{false};  // a Cell, in which models see whether it is guarded

 private:
  [[nodiscard]] task::Header* find_task() noexcept;
  /// Hands the processor off to a machine that waits to go on. True: done, and this machine may now
  /// hold another.
  [[nodiscard]] bool make_room_for_returning() noexcept;
  void look_at_driver() noexcept;
  [[nodiscard]] task::Header* next_of_queue() noexcept;
  [[nodiscard]] task::Header* take_global(std::size_t limit) noexcept;
  [[nodiscard]] task::Header* search() noexcept;
  [[nodiscard]] task::Header* steal(bool also_next) noexcept;
  [[nodiscard]] task::Header* steal_from(Processor& victim, bool also_next) noexcept;
  [[nodiscard]] task::Header* in_new_slice(task::Header* task) noexcept;
  void run_task(task::Header* task) noexcept;
  [[nodiscard]] task::Polled poll(task::Header* task) noexcept;
  void push(task::Header* task) noexcept;
  void push_global(task::Header* task) noexcept;
  void stop_searching() noexcept;
  void stop() noexcept;
  /// Sleeps until this machine is given a processor, or the engine closes and it waits for none.
  void await_processor(bool needs_one) noexcept;

  Go& go_;
  Processor* processor_ = nullptr;
  Processor* left_ = nullptr;        // the one held when the blocking section began
  std::uint32_t left_word_ = 0;      // what its lease held then
  task::Header* polling_ = nullptr;  // for the tracer
  bool searching_ = false;
};

}  // namespace taskbench::rt::go
