// One worker (a "processor" in the terms of Go and Tokio): a queue, a LIFO slot, and the loop over
// them.
//
// Threads: everything but `queue` and `forks` (thieves), `parker` (notifiers), `counters`
// (readers), `rounds` (other workers), `lease` (whoever takes over) and close_forks() belongs to
// the thread that runs the worker.
//
// Where a worker looks for a task, in this order:
//   1. every `injector_interval` polls: the injector
//   2. its LIFO slot, at most kLifoPolls times in a row
//   3. its queue
//   4. searching: the injector, then the others' queues from a random one on, then the forks that
//      others offer; for a short while again and again, then it sleeps
//
// Fairness: the LIFO slot's budget, the injector interval and the first-in-first-out queue bound
// what a runnable task waits for by the polls of the tasks before it. Rounds keep workers level
// with each other (rounds.hpp).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "runtime/base/random.hpp"
#include "runtime/driver/wheel.hpp"
#include "runtime/park/parker.hpp"
#include "runtime/scheduler/lease.hpp"
#include "runtime/scheduler/work_stealing/policy.hpp"
#include "runtime/task/context.hpp"
#include "runtime/task/harness.hpp"
#include "runtime/task/strand.hpp"
#include "runtime/trace/counters.hpp"
#include "runtime/trace/recording.hpp"

namespace taskbench::rt::work_stealing {

class WorkerSet;

class Worker {
  using Clock = base::Clock;

 public:
  /// Whether the worker may ask the clock when to look where; otherwise it does the same each time.
  enum class Pace : std::uint8_t { clock, none };

  Worker(WorkerSet& set, std::uint32_t index, Pace pace);

  /// Runs tasks until the pool shuts down or the worker is handed on, on the thread whose context
  /// names this worker.
  void run();
  /// Makes run() return after the poll that runs. Any thread.
  void leave() {
    leaves_.store(true, base::release);  // release: pairs with the acquire in leaves()
  }

  /// Called when the task that is being polled blocks the thread: the worker may be handed on.
  void begin_blocking();
  /// Ends that section. False: the worker was handed on, and the thread, which is outside now,
  /// ends the poll without it.
  [[nodiscard]] bool end_blocking();
  /// Goes on in the place of `other`, whose lease the caller has retaken.
  void take_over(Worker& other);
  /// To be called after end_blocking() has returned false, once whoever took over is done with it.
  void resign();

  /// One round of the loop in run(), for a pool whose workers run in turn on one thread, which has
  /// entered the context of this worker: runs a task, or looks for one once and falls asleep if
  /// there is none. False: it sleeps, until somebody wakes it. Not marked cold: its instructions
  /// are counted, and should be those of the loop, not what takes the least space. A yield ends a
  /// turn, so that turns stay short; the loop goes on with the next task.
  [[gnu::noinline]] bool take_turn();

  /// Queues a task that was made runnable by the task that this worker is polling.
  void schedule_local(task::Header* task);

  /// Takes everything queued here. For shutdown, when the worker's thread has left run().
  template <class Sink>
  void drain(Sink&& sink) {
    task::Header* task = nullptr;
    while (queue.pop_front(task)) sink(task);
  }

  [[nodiscard]] std::uint32_t index() const { return index_; }
  [[nodiscard]] driver::Wheel& timers() const { return timers_; }

  /// Cancels the tasks whose forks run here. Any thread.
  void close_forks() { strand_.close(); }

  Policy::LocalQueue queue;
  task::Strand::Deque forks;
  park::Parker parker;
  trace::CounterBlock counters;
  alignas(base::kFalseSharingBytes) Policy::Rounds rounds;
  scheduler::Lease lease;
  trace::Recorder recorder;

 private:
  void loop();
  // Always inlined: take_turn() calls it too, which must not cost loop() the inlining.
  [[gnu::always_inline]] inline task::Header* next_task();
  /// What is done every injector_interval polls, however much there is to do here. Returns a task
  /// that came from outside, if there is one.
  [[gnu::noinline]] task::Header* look_around();
  /// What is done if there is nothing to do here. Returns a task if it has found one.
  [[gnu::noinline]] task::Header* search_or_sleep();
  task::Header* take_from_injector();
  task::Header* take_from_injector(auto pop);
  task::Header* search();
  task::Header* search_once();
  bool start_searching();
  task::Header* steal();
  task::Header* steal_from(Worker& victim, std::uint32_t limit = UINT32_MAX);
  /// Steals a fork, and keeps it in stolen_fork_. False: nobody offers one.
  bool steal_fork();
  void run_stolen_fork();
  void note_find(std::size_t count, Clock::time_point now);
  void balance();
  std::uint32_t random_other();
  /// Polls `task`, and what comes into the LIFO slot; and if this `goes_on`, what tasks that yield
  /// let pass, until it is time to look around.
  [[gnu::always_inline]] inline void run_task(task::Header* task, bool goes_on);
  /// Polls `task`. Returns what to poll next: the same, since it yielded and there is nobody to let
  /// pass, or it is behind; or, if this `goes_on`, another one, which it let pass; or nullptr.
  [[gnu::always_inline]] inline task::Header* poll(task::Header* task, bool goes_on);
  [[gnu::noinline, gnu::cold]] task::Polled poll_and_record(task::Header* task);
  /// What becomes of the tasks that a full queue gives up.
  [[nodiscard]] auto overflow();
  void push(task::Header* task);
  void stop_searching();
  void sleep();
  void look_at_driver();
  /// Queues the task in the LIFO slot. After tasks were woken outside of a poll, since run_task()
  /// looks at the slot only behind one.
  void queue_what_is_next();
  void fall_asleep();
  void wake_up();
  [[nodiscard]] bool leaves() const {
    // acquire: pairs with the release in leave(): whoever sees it sees all that was admitted before
    return leaves_.load(base::acquire);
  }

  WorkerSet& set_;
  driver::Wheel& timers_;
  const std::uint32_t index_;
  const std::int32_t injector_interval_;
  const bool lifo_enabled_;
  const Pace pace_;
  base::Atomic<bool> leaves_{false};
  bool searching_ = false;
  bool asleep_ = false;                           // between fall_asleep() and wake_up()
  std::int32_t polls_left_ = injector_interval_;  // before it looks at the injector
  std::uint32_t passed_injector_ = 0;             // looks in a row at which another was inside
  Clock::time_point last_find_{};                 // in the injector, while searching
  std::chrono::nanoseconds hold_back_{0};         // before the next look at the injector
  task::ThreadContext* context_ = nullptr;        // of the worker's thread; holds the LIFO slot
  task::Header* polling_ = nullptr;               // for the tracer
  std::uint32_t begun_ = 0;      // the word of the lease when the blocking section began
  void* stolen_fork_ = nullptr;  // what search() has brought, if no task
  task::Strand strand_;
  base::FastRandom random_;
};

}  // namespace taskbench::rt::work_stealing
