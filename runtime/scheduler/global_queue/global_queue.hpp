// One queue, many processors: the plainest scheduler that uses several CPUs.
//
// What it is. All runnable tasks are in one intrusive list. A thread that makes a task runnable
// adds it at the back, without a lock. Each worker takes one task at a time from the front, under a
// mutex, and polls it; a worker that finds the list empty waits on a condition variable, and a
// thread that adds a task while a worker waits wakes one. The list is linked through the tasks
// themselves, so neither end allocates.
//
// Who used it. It is how thread pools are usually built, and where Go began: until 1.1 all of its
// threads shared one queue under one lock. "Making the Tokio scheduler 10x faster" (2019) starts
// from it, for two merits: it is fair, as the tasks run in the order in which they became runnable,
// and it is simple.
//
// Where its time goes. Every processor contends for the head of the queue. If a task computes for
// milliseconds, this does not matter; but the tasks of a server run for a microsecond, and then
// taking one costs as much as running it: a lock that is seldom free, the cache lines of the lock,
// the head and the task itself, which travel from core to core for each poll, and a system call for
// each worker that slept. A message is handled after everything that was runnable before it, on
// whichever core comes first, when its data has left the cache. A second core makes this slower
// more often than faster.
//
// What replaced it. A queue for each processor, which removes the contention but leaves idle
// processors beside busy ones (sharded); and stealing, which puts these to work (work_stealing).
//
// Threads: push by any; the rest by workers.
//
// Invariants
//   G1  queue_, waiting_ and writes of sleeping_ are guarded by mutex_.
//   G2  sleeping_ counts the workers in waiting_ and those that are about to be. A worker announces
//       that it sleeps before it looks at the inbox for the last time, and a pusher looks at
//       sleeping_ after its push: one of the two sees the other.
//   G3  The thread that takes a worker out of waiting_ counts it out and unparks it. The end of the
//       engine takes none out.
#pragma once

#include <cstdint>

#include "runtime/park/condition.hpp"
#include "runtime/queue/fifo.hpp"
#include "runtime/queue/inbox.hpp"
#include "runtime/scheduler/thread_pool.hpp"

namespace taskbench::rt::scheduler {

class GlobalQueue final : public ThreadPool {
 public:
  [[nodiscard]] static base::Ref<Engine> make(RuntimeOptions options) {
    return start(base::Ref<GlobalQueue>(new GlobalQueue(std::move(options))));
  }
  ~GlobalQueue() override;

 private:
  explicit GlobalQueue(RuntimeOptions options)
      : ThreadPool(std::move(options), std::in_place_type<Worker>) {}

  void push(task::Header* task, Worker* from) noexcept override;
  void run(Worker& worker) noexcept override;
  [[nodiscard]] task::Header* pop_left_over() noexcept override;

  void append(task::Header* task, Worker* from) noexcept;
  /// Takes the next task, and sleeps while there is none. nullptr: the engine is closed.
  task::Header* next_task(Worker& worker) noexcept;
  task::Header* pop() noexcept TASKBENCH_REQUIRES(mutex_);  // G1

  queue::Inbox<task::Header> inbox_;
  base::Atomic<std::uint32_t> sleeping_{0};
  alignas(base::kFalseSharingBytes) base::Mutex mutex_;
  /// Tasks taken from the inbox, older than those in it now.
  queue::Fifo<task::Header> queue_ TASKBENCH_GUARDED_BY(mutex_);
  park::Condition<Worker> waiting_ TASKBENCH_GUARDED_BY(mutex_);
};

}  // namespace taskbench::rt::scheduler
