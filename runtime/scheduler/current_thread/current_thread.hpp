// The single-threaded scheduler: one queue, and the processor that drains it.
//
// Tasks run only inside block_on, on the thread that called it: the driver. When several threads
// are in block_on one of them drives; the others poll only their own root, and one of them takes
// over when the driver leaves.
//
// Everything is run in the order in which it was queued, and nothing is random: the same program
// gives the same schedule. Fairness: the inbox and the root get their turn every
// `injector_interval` polls.
//
// Threads: schedule, spawn and close by any; the rest by the driver.
//
// Invariants
//   C1  The queue, polling_task_, counters_ and recorder_ belong to the driver.
//   C2  driver_ and waiting_ are guarded by the inbox's mutex. A parker in them is unparked only
//       under that mutex, so that a thread that leaves block_on can take its parker with it.
#pragma once

#include <cstdint>
#include <utility>

#include "runtime/base/shared.hpp"
#include "runtime/driver/driver.hpp"
#include "runtime/park/parker.hpp"
#include "runtime/queue/fifo.hpp"
#include "runtime/queue/injector.hpp"
#include "runtime/scheduler/engine.hpp"
#include "runtime/task/owned_tasks.hpp"
#include "runtime/trace/counters.hpp"
#include "runtime/trace/recording.hpp"

namespace taskbench::rt::scheduler {

class CurrentThread final : public Engine {
 public:
  [[nodiscard]] static base::Ref<CurrentThread> make(RuntimeOptions options) {
    return base::Ref<CurrentThread>(new CurrentThread(std::move(options)));
  }

  void schedule(task::Header* task) noexcept override;
  void spawn(task::Header* task) noexcept override;
  void adopt(task::Header* task) noexcept override;
  void disown(task::Header* task) noexcept override;
  [[nodiscard]] driver::Wheel& timers() noexcept override {
    return on_driver() ? own_timers() : driver().outside_wheel();
  }

  void run_root(task::Header* root) noexcept override { Root(*this).run(root); }

  /// Cancels every task before it returns, unless a thread is in block_on: then that one cancels.
  void close() noexcept override;
  /// There is nothing to wait for: no thread but those in block_on runs tasks. False in the
  /// destructor of a task that this thread cancels: a blocking call may wait for the task's end.
  [[nodiscard]] bool join(Clock::time_point) noexcept override;
  [[nodiscard]] bool has_ended() noexcept override;

  [[nodiscard]] RuntimeStats stats() const override;
  [[nodiscard]] trace::Recording& recording() noexcept override { return recording_; }

 private:
  /// One thread's call of block_on: the schedule of its root task.
  class Root final : public task::Schedule {
   public:
    explicit Root(CurrentThread& scheduler) noexcept
        : scheduler_(scheduler), parker_(scheduler.driver()) {}

    void schedule(task::Header* root) noexcept override;

    /// Polls `root` to its end.
    void run(task::Header* root) noexcept;

   private:
    friend class CurrentThread;
    /// Polls `root` to its end. Returns whether this thread is then the driver.
    bool poll_to_end(task::Header* root) noexcept;
    bool take_woken() noexcept;
    /// Polls `root` once. Returns whether it has finished.
    bool poll(task::Header* root) noexcept;

    CurrentThread& scheduler_;
    park::Parker parker_;
    bool woken_ = true;             // the poll right is here; for this thread only
    bool woken_outside_ = false;    // given by another thread; guarded by the inbox's mutex
    bool is_waiting_ = false;       // in waiting_; guarded by the inbox's mutex
    Root* next_waiting_ = nullptr;  // guarded by the inbox's mutex
  };

  explicit CurrentThread(RuntimeOptions options);

  [[nodiscard]] bool on_driver() const noexcept;
  [[nodiscard]] driver::Wheel& own_timers() noexcept { return driver().wheel(0); }
  /// Called under the inbox's mutex.
  void unpark_driver() noexcept;
  void take_inbox() noexcept;
  /// Cancels the tasks that it can cancel now. False: some task is in other hands, or being polled.
  bool cancel_some() noexcept;
  void cancel_all() noexcept;
  [[nodiscard]] bool closing() const noexcept {
    return closing_.load(base::acquire);  // acquire: pairs with the release in close()
  }
  /// Runs up to one interval of tasks. False: there was none.
  bool run_some() noexcept;
  bool try_drive(Root& root) noexcept;
  void leave(Root& root, bool was_driver) noexcept;
  void wake_outside(Root& root) noexcept;

  const RuntimeOptions options_;
  trace::Recording recording_;
  queue::Fifo<task::Header> queue_;
  bool polling_task_ = false;
  trace::CounterBlock counters_;
  trace::Recorder recorder_;

  queue::Injector<task::Header> inbox_;
  Root* driver_ = nullptr;
  /// A list, newest first: until they leave, also those that have become the driver since.
  Root* waiting_ = nullptr;
  trace::CounterBlock outside_;       // written under the inbox's lock
  trace::Recorder outside_recorder_;  // written under the inbox's lock
  base::Atomic<bool> closing_{false};

  task::OwnedTasks owned_;
};

}  // namespace taskbench::rt::scheduler
