// Go's scheduler, G, M and P (Vyukov, "Scalable Go Scheduler Design Doc", 2012).
//
// What it is. A task is a G, a thread an M. Between them stands P, the processor: the right to run
// tasks, with a queue. There are as many processors as workers were asked for, and a thread for
// each, plus one for each blocked thread: a thread that blocks in a system call (here:
// rt::block_in_place) leaves its processor to another. Each processor has a queue of 256 tasks and
// one more slot, for the task to run next; a full queue moves half of its tasks to the global queue
// at once. A processor out of work looks at the global queue, then four times at all the others,
// and steals half of a victim's queue; the task that is next in line only in the last round, and
// not before its owner had 3 us to run it. Every 61st task comes from the global queue first.
//
// A monitor thread looks at all processors every 20 us to 10 ms. It retakes the processor of a
// thread that has been blocked for 20 us while there is work, and preempts a task that has run for
// 10 ms, which then goes to the global queue. The task that is next in line inherits the time
// slice: two tasks that wake each other share one slice.
//
// Who used it. Every Go program since Go 1.1 (2013). Before, there was one queue under one lock
// (global_queue).
//
// Where its time goes. Each push checks whether some thread sleeps and none searches, and if so
// wakes one: a program that passes one task along keeps a second thread searching in vain. A yield
// goes through the lock of the global queue. The task next in line can be stolen, so that each push
// and pop of it is a locked instruction. And the monitor wakes up every now and then.
//
// What replaced it. Nothing, in Go; Tokio took its queues, its search and its wake-up rule for
// work_stealing, and left out the hand-off and the monitor: a task that blocks there blocks its
// worker, too.
//
// What differs from Go: a poll cannot be interrupted, so that preemption takes effect at the next
// await that suspends, or is of a channel, a lock or a socket; there is no garbage collector and no
// per-processor cache to keep; the search stops at once when the engine closes.
//
// Threads: any.
//
// Invariants
//   G1  A processor is in `idle` (and held by nobody), or held by exactly one machine, by the
//       monitor, or by the thread that took it out of `idle` and is about to hand it on. Two can
//       claim a processor only while its machine is in a blocking section; its lease decides then.
//   G2  The lists of machines, the processor that a machine was given, and monitor_sleeps_ are
//       guarded by mutex_.
//   G3  A machine enters sleeping_ before its processor enters `idle`: so there is a thread for
//       each idle processor, and a new one is started only for a processor that was retaken. If the
//       system gives none, the thread that puts that processor into `idle` looks into sleeping_
//       afterwards.
//   G4  A machine in returning_ is work like a task in a queue: it is put there before the fence
//       that precedes the look for sleepers, and a leaver looks there after its own fence.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/base/sync_primitives.hpp"
#include "runtime/driver/driver.hpp"
#include "runtime/queue/fifo.hpp"
#include "runtime/queue/injector.hpp"
#include "runtime/scheduler/engine.hpp"
#include "runtime/scheduler/go/machine.hpp"
#include "runtime/scheduler/go/monitor.hpp"
#include "runtime/scheduler/go/processor.hpp"
#include "runtime/scheduler/outside.hpp"
#include "runtime/scheduler/work_stealing/idle.hpp"
#include "runtime/scheduler/worker_threads.hpp"
#include "runtime/task/owned_tasks.hpp"

namespace taskbench::rt::go {

class Go final : public scheduler::Engine, private scheduler::WorkerThreads::Work {
 public:
  /// Makes the engine and starts its threads. Throws std::system_error if the system gives no more.
  [[nodiscard]] static base::Ref<Engine> make(RuntimeOptions options);

  void schedule(task::Header* task) noexcept override;
  void spawn(task::Header* task) noexcept override;
  void adopt(task::Header* task) noexcept override;
  void disown(task::Header* task) noexcept override { owned_.remove(task); }
  [[nodiscard]] void* begin_blocking() noexcept override;
  void end_blocking(void* begun) noexcept override;
  [[nodiscard]] driver::Wheel& timers() noexcept override;

  void run_root(task::Header* root) noexcept override;
  void close() noexcept override;
  [[nodiscard]] bool join(Clock::time_point deadline) noexcept override;
  void detach() noexcept override { threads_.detach(); }
  [[nodiscard]] bool has_ended() noexcept override { return threads_.has_ended(); }
  [[nodiscard]] RuntimeStats stats() const override;
  [[nodiscard]] trace::Recording& recording() noexcept override { return recording_; }

  // For machines and the monitor.
  queue::Injector<task::Header> global;
  work_stealing::Idle idle;

  [[nodiscard]] const RuntimeOptions& options() const noexcept { return options_; }
  [[nodiscard]] std::uint32_t processor_count() const noexcept { return options_.workers; }
  [[nodiscard]] Processor& processor(std::size_t index) noexcept { return *processors_[index]; }
  [[nodiscard]] bool closed() const noexcept {
    return closed_.load(base::acquire);  // acquire: pairs with the release in close()
  }

  /// Wakes a machine, if the rules ask for it, for a task that the holder of `processor` has
  /// published.
  void notify_from(Processor& processor) noexcept;
  /// Wakes a machine if work is visible. After a fence of the holder of `processor`.
  void notify_if_work_is_visible(Processor& processor) noexcept;

  [[nodiscard]] bool work_is_visible() const noexcept;

  /// Hands off a processor that the caller holds: to a machine that waits to go on, or else to one
  /// that sleeps, or else to a new one.
  void assign(Processor& processor, bool searching) noexcept;
  /// Puts a processor that the caller holds among the idle ones, and looks for work for it one last
  /// time.
  void release(Processor& processor, bool searching) noexcept;

  /// Before release(): `machine` has nothing to do, and can be given a processor from now on.
  void add_sleeping(Machine& machine) noexcept;
  /// `machine` wants to go on after a blocking section, and will be given a processor.
  void add_returning(Machine& machine) noexcept;
  [[nodiscard]] bool machine_returns() const noexcept {
    return returns_.load(base::relaxed);  // relaxed: a hint, or ordered by the caller's fence
  }
  /// Gives `processor`, which `machine` holds, to a machine that waits to go on, and puts `machine`
  /// among the sleeping ones. False: none waits.
  [[nodiscard]] bool give_to_returning(Machine& machine, Processor& processor) noexcept;
  /// Takes the processor that `machine` was given, and whether it is to search; nullptr: none yet.
  [[nodiscard]] Processor* take_given(Machine& machine, bool& searching) noexcept;
  /// Returns whether no processor is held; if so, assign() will unpark the monitor.
  [[nodiscard]] bool monitor_may_sleep() noexcept;

 private:
  explicit Go(RuntimeOptions options);
  void start();
  void run_worker(std::uint32_t index) noexcept override;
  void drain() noexcept override;

  [[nodiscard]] Machine* local_machine() const noexcept;
  /// The machine of the calling thread, if it holds a processor.
  [[nodiscard]] Machine* local_holder() const noexcept;
  void push_outside(task::Header* task) noexcept;
  /// assign(), on behalf of the holder of `from`.
  void assign_by(Processor& from, Processor& processor) noexcept;
  /// Whether some machine is idle and could be given a processor.
  [[nodiscard]] bool machine_sleeps() noexcept;
  Machine* take_returning() noexcept TASKBENCH_REQUIRES(mutex_);
  Machine* take_sleeping() noexcept TASKBENCH_REQUIRES(mutex_);

  const RuntimeOptions options_;
  trace::Recording recording_;
  task::OwnedTasks owned_;
  std::vector<std::unique_ptr<Processor>> processors_;
  scheduler::Outside outside_;
  base::Atomic<bool> closed_{false};

  base::Mutex mutex_;
  std::vector<std::unique_ptr<Machine>> machines_ TASKBENCH_GUARDED_BY(mutex_);
  /// Machines without a processor and without a task; newest first.
  Machine* sleeping_ TASKBENCH_GUARDED_BY(mutex_) = nullptr;
  /// Machines without a processor, in the midst of a task.
  queue::Fifo<Machine> returning_ TASKBENCH_GUARDED_BY(mutex_);
  base::Atomic<bool> returns_{false};  // written under mutex_: returning_ is not empty
  bool monitor_sleeps_ TASKBENCH_GUARDED_BY(mutex_) = false;

  Monitor monitor_;
  scheduler::WorkerThreads threads_;
};

}  // namespace taskbench::rt::go
