// One worker (a "processor" in the terms of Go and Tokio): a queue, a LIFO slot, and the loop over
// them.
//
// Threads: everything belongs to the thread that runs the worker, except `queue` and `forks`
// (thieves), `parker` (notifiers), `counters` (readers), `rounds` (other workers), `lease` (the
// successor) and close_forks().
//
// Where a worker looks for a task, in this order:
//   1. every `injector_interval` polls, but not during a descent: the injector
//   2. its LIFO slot, at most kLifoPolls times in a row
//   3. its queue: the oldest; or, since a task polled here began to wait for the end of another,
//      the newest, at most kDescent times in a row (a descent)
//   4. searching: the injector, then the others' queues from a random victim on, then the forks
//      that others offer; once where sockets are watched or workers run in turn, else repeatedly
//      for a short while; then it sleeps
//
// Fairness: thanks to the LIFO slot's budget, the injector interval and the bound on descents, each
// runnable task comes to the front of its queue and has its turn there. Rounds keep workers level
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
  /// Whether the worker may time its looks by the clock; otherwise it does the same each time.
  enum class Pace : std::uint8_t { clock, none };

  Worker(WorkerSet& set, std::uint32_t index, Pace pace);

  /// Runs tasks until the pool shuts down or the worker is handed on, on the thread whose context
  /// names this worker.
  void run();
  /// Makes run() return after the current poll. Any thread.
  void leave() {
    leaves_.store(true, base::release);  // release: pairs with the acquire in leaves()
  }

  /// Called when the task that is being polled blocks the thread: the worker may be handed on.
  void begin_blocking();
  /// Ends that section. False: the worker was handed on, and the thread, which is outside now,
  /// ends the poll without it.
  [[nodiscard]] bool end_blocking();
  /// Takes the place of `other`, whose lease the caller has retaken.
  void take_over(Worker& other);
  /// Called after end_blocking() has returned false, once the successor is done taking over.
  void resign();

  /// One round of the loop in run(), for a pool whose workers run in turn on one thread, which has
  /// entered the context of this worker: runs a task, or looks for one once and falls asleep if
  /// there is none. False: it sleeps until it is woken. Not marked cold: its instructions are
  /// counted, and should be those of the loop, not the most compact ones. A yield ends a turn, so
  /// that turns stay short; the loop goes on with the next task.
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
  // Always inlined: take_turn() calls it too, which must not keep it from being inlined in loop().
  [[gnu::always_inline]] inline task::Header* next_task();
  /// Called every injector_interval polls, however much there is to do here. Returns a task that
  /// came from outside, if there is one.
  [[gnu::noinline]] task::Header* look_around();
  /// Called if a task has begun to wait for another: takes the newest task of the queue, for a
  /// while. Null: it is the turn of the oldest.
  [[gnu::noinline]] task::Header* descend();
  /// Called when it is the turn of the oldest task.
  void end_descent();
  /// Called if there is nothing to do here. Returns a task if it has found one.
  [[gnu::noinline]] task::Header* search_or_sleep();
  task::Header* take_from_injector();
  task::Header* take_from_injector(std::size_t most, auto pop);
  task::Header* search();
  task::Header* search_once();
  bool start_searching();
  task::Header* steal();
  task::Header* steal_from(Worker& victim, std::uint32_t limit = UINT32_MAX);
  /// Steals a fork, and keeps it in stolen_fork_. False: no worker offers one.
  bool steal_fork();
  void run_stolen_fork();
  void note_find(std::size_t count, Clock::time_point now);
  void balance();
  std::uint32_t random_other();
  /// Polls `task`, and the tasks that come into the LIFO slot; if this `goes_on`, also the tasks
  /// that yielding ones let pass, until it is time to look around.
  [[gnu::always_inline]] inline void run_task(task::Header* task, bool goes_on);
  /// What to poll after a poll.
  enum class Next : std::uint8_t {
    none,   ///< what is in the LIFO slot, or the queue
    same,   ///< the task once more: it yielded, and no other waits, or it is behind
    other,  ///< another one, which it let pass
  };
  /// Polls `task`, which then is what to poll next, unless that is `none`; `other` only if this
  /// `goes_on`.
  [[gnu::always_inline]] inline Next poll(task::Header*& task, bool goes_on);
  [[gnu::noinline, gnu::cold]] task::Polled poll_and_record(task::Header* task);
  /// Takes the tasks that a full queue gives up.
  [[nodiscard]] auto overflow();
  void push(task::Header* task);
  void stop_searching();
  void sleep();
  void look_at_driver();
  /// Queues the task in the LIFO slot. Called when tasks were woken outside of a poll, since
  /// run_task() looks at the slot only after one.
  void queue_what_is_next();
  void fall_asleep();
  void wake_up();
  [[nodiscard]] bool leaves() const {
    // acquire: pairs with the release in leave(): all that was admitted before is visible
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
  std::uint32_t descended_ = 0;             // tasks from the back since the last from the front
  bool owes_look_ = false;                  // at the injector: one fell into a descent
  bool descends_ = false;                   // between turns: the context's waits_for_task
  std::uint32_t passed_injector_ = 0;       // looks in a row at which another was inside
  Clock::time_point last_find_{};           // in the injector, while searching
  std::chrono::nanoseconds hold_back_{0};   // before the next look at the injector
  task::ThreadContext* context_ = nullptr;  // of the worker's thread; holds the LIFO slot
  task::Header* polling_ = nullptr;         // for the tracer; null in a stolen fork
  std::uint32_t begun_ = 0;                 // the word of the lease when the blocking section began
  void* stolen_fork_ = nullptr;             // found by search() instead of a task
  task::Strand strand_;
  base::FastRandom random_;
};

}  // namespace taskbench::rt::work_stealing
