// Tokio's first scheduler: work stealing, with all the costs that its successor, ten times as fast,
// got rid of.
//
// What it is. Each worker has a queue that grows, the deque of Chase and Lev (growing_deque.hpp),
// from which others steal one task at a time, beginning with a random worker. Threads outside put
// tasks into the inbound list of a sleeping worker, or else of some other. Every push wakes a
// sleeping worker, and a worker that wakes up and finds a task wakes another. A worker that has
// slept for long ends its thread, which is started again when all others are busy. A task is a
// struct of its own with a reference count, apart from the future that it runs, and every entry
// into a queue counts one reference.
//
// Who used it. tokio-threadpool, from March 2018 until "Making the Tokio scheduler 10x faster"
// replaced it in October 2019.
//
// Where its time goes. `taskbench ladder` measures it, step by step. The notifications weigh most:
// a chain of tasks, of which at most one is runnable at a time, wakes a worker at every link, which
// finds nothing or takes the chain away; a burst wakes all workers at once, which then search the
// same queues. A steal brings one task, so a worker searches again for the next. Counting
// references and pinning buffers are locked instructions in each poll; the second allocation is
// another block and another cache line to touch. A task that receives a message waits at the back
// of the queue, as there is no LIFO slot.
//
// What replaced it. work_stealing: a queue of fixed size without read-modify-writes, half of the
// victim's queue at a time, one searcher that wakes the next, threads that stay, one allocation,
// and a list of live tasks in place of counted references.
//
// Where this differs from Tokio's. Parts that "Making the Tokio scheduler 10x faster" does not
// blame are not made worse: sleepers and inbound lists are under a mutex, where Tokio had lock-free
// stacks and queues; the memory of both allocations comes from the runtime's own cache of blocks. A
// pushing worker need not be pinned, as it alone replaces its buffer. Idle threads end after a
// second, where Tokio took a minute.
//
// Threads: push by any; the rest by workers.
//
// Invariants
//   T1  A processor's state and inbound list, sleepers_, ended_, live_, leaving_ and next_ are
//       guarded by mutex_.
//   T2  idle_ counts the processors in sleepers_ and ended_. A worker announces that it sleeps
//       before it looks at all queues for the last time, and a pusher looks at idle_ after its
//       push, each with a fence in between: one of the two sees the other.
//   T3  Until the engine is closed at least one thread runs: the last one does not end.
//   T4  A thread is started again only while no thread leaves for good, so that none comes after
//       the drain.
//   T5  is in costs.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/base/random.hpp"
#include "runtime/queue/fifo.hpp"
#include "runtime/queue/growing_deque.hpp"
#include "runtime/scheduler/thread_pool.hpp"
#include "runtime/scheduler/tokio01/costs.hpp"

namespace taskbench::rt::scheduler {

class Tokio01 final : public ThreadPool {
 public:
  [[nodiscard]] static base::Ref<Engine> make(RuntimeOptions options) {
    return start(base::Ref<Tokio01>(new Tokio01(std::move(options))));
  }

 private:
  using Deque = queue::GrowingDeque<task::Header*>;
  using TaskCosts = scheduler::TaskCosts<true>;

  enum class State : std::uint8_t { awake, asleep, ended };

  struct Processor final : Worker {
    using Worker::Worker;

    std::optional<Deque> deque;  // set as soon as the engine exists
    std::optional<base::FastRandom> random;
    base::Atomic<bool> has_inbound{false};
    queue::Fifo<task::Header> inbound;
    State state = State::awake;
    bool was_woken = false;  // and has found no task since; only its thread uses this
  };

  explicit Tokio01(RuntimeOptions options);

  void begin(task::Header* task, Worker*) noexcept override { TaskCosts::begin(task, *this); }
  void push(task::Header* task, Worker* from) noexcept override;
  void run(Worker& worker) noexcept override;
  [[nodiscard]] task::Header* pop_left_over() noexcept override;
  void cancel_left_over(task::Header* task) noexcept override { TaskCosts::cancel(task); }

  [[nodiscard]] Processor& processor(std::uint32_t index) const noexcept {
    return static_cast<Processor&>(*workers()[index]);
  }

  void push_local(task::Header* task, Processor& own) noexcept;
  void push_outside(task::Header* task) noexcept;
  /// Wakes a worker, if one sleeps, for a task that was just pushed.
  void notify(Processor& from) noexcept;
  /// nullptr: all processors are awake.
  Processor* take_idle() noexcept TASKBENCH_REQUIRES(mutex_);
  void remove_sleeper(Processor& own) noexcept TASKBENCH_REQUIRES(mutex_);

  task::Header* next_task(Processor& own) noexcept;
  task::Header* steal(Processor& own) noexcept;
  /// Moves the inbound tasks of `from` to the queue of `own`.
  void take_inbound(Processor& own, Processor& from) noexcept;
  void run_task(Processor& own, task::Header* task) noexcept;
  /// False: the thread has been idle for long and ends.
  [[nodiscard]] bool sleep(Processor& own) noexcept;
  [[nodiscard]] bool sleep_until_woken(Processor& own) noexcept;
  [[nodiscard]] bool work_is_visible() const noexcept;

  Deque::Domain epochs_;
  base::Atomic<std::uint32_t> idle_{0};
  alignas(base::kFalseSharingBytes) base::Mutex mutex_;
  std::vector<Processor*> sleepers_ TASKBENCH_GUARDED_BY(mutex_);
  std::vector<Processor*> ended_ TASKBENCH_GUARDED_BY(mutex_);
  std::uint32_t live_ TASKBENCH_GUARDED_BY(mutex_);      // processors that have a thread
  bool leaving_ TASKBENCH_GUARDED_BY(mutex_) = false;    // a thread has seen that it is closed
  std::uint32_t next_ TASKBENCH_GUARDED_BY(mutex_) = 0;  // processor for a task from outside
};

}  // namespace taskbench::rt::scheduler
