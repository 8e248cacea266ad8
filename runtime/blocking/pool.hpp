// Threads for calls that block: each runs one call at a time, to its end.
//
// A call is a task whose coroutine never suspends (blocking/spawn_blocking.hpp): so it has a
// JoinHandle, which gets its result or exception, and an abort before it begins ends it unrun.
//
// Threads: any. The pool starts a thread when a call finds none idle, up to a limit; a thread ends
// when it has been idle for a while. Beyond the limit calls wait their turn, oldest first. Those
// that were aborted end when their turn comes, or when others come behind them: otherwise they
// would pile up while all threads are held up.
//
// Shutdown: close() cancels calls that have not begun; join() waits for the running ones, which
// cannot be stopped.
//
// Invariants
//   B1  Everything but the constants is guarded by mutex_.
//   B2  A thread is in idle_ while it waits, until another thread takes it out to give it a token,
//       or it takes itself out when it has waited for too long.
//   B3  Each thread owns the pool's owner, so that a detached pool is destroyed with its last
//       thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "runtime/base/sync_primitives.hpp"
#include "runtime/park/parker.hpp"
#include "runtime/queue/fifo.hpp"
#include "runtime/task/header.hpp"
#include "runtime/task/schedule.hpp"
#include "runtime/trace/counters.hpp"

namespace taskbench::rt::blocking {

class Pool {
 public:
  using Clock = base::Clock;

  struct Settings {
    std::uint32_t max_threads;              ///< > 0
    std::chrono::nanoseconds idle_timeout;  ///< after which an idle thread ends
    std::string thread_name;
  };

  /// `owner` contains the pool; rt::spawn in a call spawns on it.
  Pool(task::Spawner& owner, Settings settings) : owner_(owner), settings_(std::move(settings)) {}
  ~Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Runs `call`, a task that has never been polled, on one of the threads. After close() it is
  /// cancelled. If no thread is idle, this also ends older calls that were aborted. Throws
  /// std::system_error, with `call` cancelled, if there is no thread and the system gives none.
  /// Another reference to `owner` must last until this returns.
  void run(task::Header* call);

  /// Refuses later calls, and cancels those that have not begun.
  void close() noexcept;

  /// After close(): waits until no call is left and all threads have ended. Returns false, and may
  /// be called again, if `deadline` passes first; at once where has_this_thread(), as a call cannot
  /// wait for itself. One thread at a time may wait; a call with time_point::min() does not wait.
  [[nodiscard]] bool join(Clock::time_point deadline) noexcept;

  /// Instead of another join(): leaves the threads to end by themselves.
  void detach() noexcept;

  /// Whether the calling thread is in a call of this pool, or cancels some that have not begun.
  [[nodiscard]] bool has_this_thread() const noexcept;

  [[nodiscard]] BlockingCounters counters() const;

 private:
  struct Thread {
    base::Thread thread;
    park::Parker parker;
  };

  void start_thread() TASKBENCH_REQUIRES(mutex_);
  /// Takes out the oldest calls, if they were aborted: a few, for cancel_all().
  [[nodiscard]] queue::Fifo<task::Header> take_aborted() noexcept TASKBENCH_REQUIRES(mutex_);
  /// Cancels calls for which the caller has counted itself in cancelling_.
  void cancel_all(queue::Fifo<task::Header> calls) noexcept;
  void work(Thread& own) noexcept;
  [[nodiscard]] bool wait(Thread& own) noexcept TASKBENCH_REQUIRES(mutex_);
  void leave(Thread& own) noexcept TASKBENCH_RELEASE(mutex_);

  task::Spawner& owner_;
  const Settings settings_;

  mutable base::Mutex mutex_;
  bool closed_ TASKBENCH_GUARDED_BY(mutex_) = false;
  std::uint32_t cancelling_ TASKBENCH_GUARDED_BY(mutex_) = 0;  // threads in cancel_all()
  bool detached_ TASKBENCH_GUARDED_BY(mutex_) = false;
  queue::Fifo<task::Header> calls_ TASKBENCH_GUARDED_BY(mutex_);  // that have not begun
  std::list<Thread> threads_ TASKBENCH_GUARDED_BY(mutex_);
  /// To be joined: by the next thread that ends, or by join().
  std::list<Thread> ended_ TASKBENCH_GUARDED_BY(mutex_);
  std::vector<Thread*> idle_ TASKBENCH_GUARDED_BY(mutex_);
  BlockingCounters counters_ TASKBENCH_GUARDED_BY(mutex_);
  park::Parker joiner_;  // unguarded: of the thread in join()
};

}  // namespace taskbench::rt::blocking
