// A thread for each worker of an engine: started together, waited for together.
//
// Shutdown: once the engine is closed each thread leaves its worker; the last one drains.
//
// Threads: start, detach and a join that waits by one thread at a time; has_ended and a join that
// does not wait by any.
#pragma once

#include <cstdint>
#include <list>

#include "runtime/base/cell.hpp"
#include "runtime/base/sync_primitives.hpp"
#include "runtime/park/parker.hpp"
#include "runtime/scheduler/engine.hpp"

namespace taskbench::rt::scheduler {

class WorkerThreads {
 public:
  /// What an engine lets the threads do.
  class Work {
   public:
    /// Runs tasks as worker `index`, until the engine is closed.
    virtual void run_worker(std::uint32_t index) noexcept = 0;
    /// Cancels every task, including those on their way to a queue. The engine is closed and no
    /// worker runs.
    virtual void drain() noexcept = 0;

   protected:
    ~Work() = default;
  };

  /// Starts `options.workers` threads, each of which owns `engine`. Throws std::system_error if the
  /// system gives no more; the engine has then been closed and drained, and its blocking calls have
  /// ended.
  void start(Engine& engine, Work& work, const RuntimeOptions& options);

  /// Starts another thread, as worker `index`. The caller is in run_worker(), or knows of a thread
  /// that will be until this returns. Throws std::system_error.
  void add(Engine& engine, Work& work, const RuntimeOptions& options, std::uint32_t index);

  /// Engine's functions of the same names.
  [[nodiscard]] bool join(Engine::Clock::time_point deadline) noexcept;
  void detach() noexcept;
  [[nodiscard]] bool has_ended() noexcept;

 private:
  struct Worked {
    base::Thread thread;
    base::Cell<bool> has_left{false};  // guarded by exit_mutex_
  };

  void run(Engine& engine, Work& work, const RuntimeOptions& options, std::uint32_t index,
           Worked& own) noexcept;
  void join_those_that_left() noexcept TASKBENCH_REQUIRES(threads_mutex_);

  void start_thread(Engine& engine, Work& work, const RuntimeOptions& options, std::uint32_t index);
  void join_threads() noexcept;

  base::Mutex threads_mutex_;
  /// May contain threads that have left.
  std::list<Worked> threads_ TASKBENCH_GUARDED_BY(threads_mutex_);
  bool detached_ TASKBENCH_GUARDED_BY(threads_mutex_) = false;
  base::Mutex exit_mutex_;
  /// Threads that have not left.
  std::uint32_t running_ TASKBENCH_GUARDED_BY(exit_mutex_) = 0;
  park::Parker joiner_;  // unguarded: of the thread in join()
};

}  // namespace taskbench::rt::scheduler
