// The common part of the schedulers that work_stealing is compared with: a thread for each worker,
// spawning and waking from workers and from outside, the shutdown, the counters. The scheduler
// itself decides where a task is queued, and how a worker gets its next one.
//
// Threads: push by any; run by the worker's own.
//
// Shutdown: close() refuses new tasks from outside and wakes all threads; each worker ends its poll
// and leaves run(); the last one drains.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/base/cache_line.hpp"
#include "runtime/base/sync_primitives.hpp"
#include "runtime/driver/driver.hpp"
#include "runtime/park/condition.hpp"
#include "runtime/park/parker.hpp"
#include "runtime/scheduler/engine.hpp"
#include "runtime/scheduler/outside.hpp"
#include "runtime/scheduler/traced_poll.hpp"
#include "runtime/scheduler/worker_threads.hpp"
#include "runtime/task/owned_tasks.hpp"

namespace taskbench::rt::scheduler {

class ThreadPool : public Engine, private WorkerThreads::Work {
 public:
  void schedule(task::Header* task) noexcept final;
  void spawn(task::Header* task) noexcept final;
  void adopt(task::Header* task) noexcept final;
  void disown(task::Header* task) noexcept final { owned_.remove(task); }
  [[nodiscard]] driver::Wheel& timers() noexcept final;

  void run_root(task::Header* root) noexcept final;
  void close() noexcept final;
  [[nodiscard]] bool join(Clock::time_point deadline) noexcept final;
  void detach() noexcept final { threads_.detach(); }
  [[nodiscard]] bool has_ended() noexcept final { return threads_.has_ended(); }

  [[nodiscard]] RuntimeStats stats() const final;
  [[nodiscard]] trace::Recording& recording() noexcept final { return recording_; }

 protected:
  /// Starts the threads. Throws std::system_error if the system gives no more; those that were
  /// started have then been stopped.
  [[nodiscard]] static base::Ref<Engine> start(base::Ref<ThreadPool> pool);

  struct Worker {
    Worker(ThreadPool& pool, std::uint32_t number) noexcept
        : index(number),
          parker(pool.driver()),
          recorder(pool.recording_.worker(number)),
          driver_(pool.driver()),
          interval_(pool.options_.injector_interval) {}
    virtual ~Worker() = default;

    /// Polls `task`, and calls `push_back` if it goes to the back of the queue.
    template <class PushBack>
    void poll(task::Header* task, PushBack&& push_back) noexcept {
      counters.polls.add();
      after_poll(scheduler::poll(task, recorder), counters, push_back);
      count_poll();
    }
    /// Looks at the driver every injector_interval polls.
    void count_poll() noexcept {
      if (++polls_ < interval_) return;
      polls_ = 0;
      driver_.look(&timers());
    }
    /// Sleeps until there is a token, or tasks have been woken for events of the driver.
    void park(std::chrono::nanoseconds spin) noexcept {
      before_park();
      static_cast<void>(parker.park_once(spin));
      recorder.unpark();
      dispatch();
    }
    /// Sleeps like park(), but until it is taken out of `condition`, which `mutex` guards. Returns
    /// whether it was taken out; it is not part of `condition` afterwards.
    bool wait(park::Condition<Worker>& condition, base::Mutex& mutex) noexcept
        TASKBENCH_REQUIRES(mutex) {
      before_park();
      const bool taken = condition.wait(mutex, *this);
      recorder.unpark();
      if (driver_.has_it()) {
        mutex.unlock();
        dispatch();
        mutex.lock();
      }
      return taken;
    }
    void dispatch() noexcept { driver_.dispatch(&timers()); }
    void before_park() noexcept {
      counters.parks.add();
      recorder.park();
    }
    [[nodiscard]] driver::Wheel& timers() const noexcept { return driver_.wheel(index); }

    const std::uint32_t index;
    park::Parker parker;
    Worker* next_waiting = nullptr;  // of a park::Condition
    trace::CounterBlock counters;
    trace::Recorder recorder;

   private:
    driver::Driver& driver_;
    const std::uint32_t interval_;
    std::uint32_t polls_ = 0;  // since the last look at the driver
  };

  /// Makes the workers, each a `WorkerType`.
  template <class WorkerType>
  ThreadPool(RuntimeOptions options, std::in_place_type_t<WorkerType>)
      : ThreadPool(std::move(options)) {
    for (std::uint32_t i = 0; i < options_.workers; ++i) {
      workers_.push_back(std::make_unique<WorkerType>(*this, i));
    }
  }

  /// Called when a new task is about to be queued for the first time; `from` as in push().
  virtual void begin(task::Header*, Worker*) noexcept {}
  /// Queues a task on behalf of `from`, which is polling another one; nullptr: on behalf of a
  /// thread outside.
  virtual void push(task::Header* task, Worker* from) noexcept = 0;
  /// Polls tasks until closed().
  virtual void run(Worker& worker) noexcept = 0;
  /// Takes a task out of any queue; nullptr: there is none. No other thread takes tasks meanwhile,
  /// but some may be pushed.
  [[nodiscard]] virtual task::Header* pop_left_over() noexcept = 0;

  /// Called when the engine has just been closed: wakes the threads that wait and are not workers.
  virtual void release_waiting() noexcept {}

  virtual void cancel_left_over(task::Header* task) noexcept { task::cancel(task); }

  /// Starts another thread for `worker`, whose own has left run(). The caller knows of another
  /// thread that will be in run() until this returns. Throws std::system_error.
  void start_again(const Worker& worker) { threads_.add(*this, *this, options_, worker.index); }

  /// Wakes `worker`, or keeps it from going to sleep. `from` as in push().
  void unpark(Worker& worker, Worker* from) noexcept;

  [[nodiscard]] bool closed() const noexcept {
    return closed_.load(base::acquire);  // acquire: pairs with the release in close()
  }
  [[nodiscard]] const RuntimeOptions& options() const noexcept { return options_; }
  [[nodiscard]] const std::vector<std::unique_ptr<Worker>>& workers() const noexcept {
    return workers_;
  }
  /// The worker that the calling thread runs, if any.
  [[nodiscard]] Worker* local_worker() const noexcept;

 private:
  explicit ThreadPool(RuntimeOptions options);

  void run_worker(std::uint32_t index) noexcept final;
  void drain() noexcept final;

  const RuntimeOptions options_;
  trace::Recording recording_;
  task::OwnedTasks owned_;
  std::vector<std::unique_ptr<Worker>> workers_;
  Outside outside_;
  base::Atomic<bool> closed_{false};
  WorkerThreads threads_;
};

}  // namespace taskbench::rt::scheduler
