// The work-stealing scheduler: a thread for each worker, and more threads when some block.
//
// A thread whose task blocks it (rt::block_in_place) leaves its worker: a stand-by thread watches
// such sections, and takes over from a worker whose thread has been blocked for 20 us, with another
// Worker of the same index (docs/adr/0023). The thread that comes back ends its poll as any thread
// outside would; its Worker, which no other thread knows any more, then tells it to leave, and it
// stands by. So the loop over tasks has no extra check.
//
// Shutdown: close() refuses new tasks and wakes all threads; each worker finishes its current poll
// and leaves; the last one to leave cancels all remaining tasks, in drain(). No thread waits for a
// task that is not being polled.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/base/cell.hpp"
#include "runtime/base/shared.hpp"
#include "runtime/park/parker.hpp"
#include "runtime/scheduler/lease.hpp"
#include "runtime/scheduler/work_stealing/worker_set.hpp"
#include "runtime/scheduler/worker_threads.hpp"

namespace taskbench::rt::work_stealing {

class Pool : public WorkerSet, private scheduler::WorkerThreads::Work {
 public:
  /// Makes the pool and starts its threads. Throws std::system_error if the system gives no more
  /// threads; those that were started have then been stopped.
  [[nodiscard]] static base::Ref<Pool> make(RuntimeOptions options);

  [[nodiscard]] bool shares_forks() const noexcept override { return true; }
  [[nodiscard]] void* begin_blocking() noexcept override;
  void end_blocking(void* begun) noexcept override;

  void run_root(task::Header* root) noexcept override;
  void close() noexcept override;
  [[nodiscard]] bool join(Clock::time_point deadline) noexcept override;
  void detach() noexcept override { threads_.detach(); }
  [[nodiscard]] bool has_ended() noexcept override { return threads_.has_ended(); }

 protected:
  Pool(RuntimeOptions options, Worker::Pace pace)
      : WorkerSet(std::move(options), pace), seen_(worker_count()), thread_count_(worker_count()) {}

  /// Starts the threads of a new pool, as make() does.
  [[nodiscard]] static base::Ref<Pool> start(base::Ref<Pool> pool);

 private:
  /// A stand-by thread.
  struct StandIn {
    park::Parker parker;
  };

  void run_worker(std::uint32_t index) noexcept override;
  void drain() noexcept override { WorkerSet::drain(); }

  /// Makes a thread watch the leases. If none stands by and no more may be started, the next one
  /// that comes to stand by watches.
  void call_watcher() noexcept;
  /// Waits until there is a worker to go on with; nullptr: the thread is not needed any more.
  [[nodiscard]] Worker* stand_by() noexcept;
  /// Waits to be called, with mutex_ unlocked meanwhile. False: it has waited for too long.
  [[nodiscard]] bool wait(StandIn& self) noexcept TASKBENCH_REQUIRES(mutex_);
  /// Watches the leases until it can take over a worker, and returns the successor of that;
  /// nullptr: no thread blocks any more.
  [[nodiscard]] Worker* watch(StandIn& self) noexcept;
  /// Returns whether a thread blocks and none watches; the caller must then make one watch.
  [[nodiscard]] bool is_watcher_wanted() noexcept;

  scheduler::Watch watch_;
  /// What the thread that watches has last seen of the leases. It locks mutex_ after its last use
  /// and before it leaves watch_, and the next one locks it before its first.
  std::vector<base::Cell<std::uint32_t>> seen_;
  /// Has room for all threads, once one has been added: before that, none stands by.
  std::vector<StandIn*> standing_by_ TASKBENCH_GUARDED_BY(mutex_);
  bool called_ TASKBENCH_GUARDED_BY(mutex_) = false;  // one of standing_by_ is to watch
  std::uint32_t thread_count_ TASKBENCH_GUARDED_BY(mutex_);
  std::uint32_t next_index_ TASKBENCH_GUARDED_BY(mutex_) = 0;  // of the next thread to be added
  scheduler::WorkerThreads threads_;
};

}  // namespace taskbench::rt::work_stealing
