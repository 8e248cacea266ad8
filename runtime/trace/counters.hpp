// What a worker counts while it runs.
//
// Each worker writes its own block, on cache lines of its own; any thread may read it at any time.
// A count is a plain load and store of an atomic word (no locked instruction), since there is one
// writer. With TASKBENCH_NO_COUNTERS the counts compile to nothing and read as zero.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/base/cache_line.hpp"
#include "runtime/base/sync_primitives.hpp"

namespace taskbench::rt {

/// A snapshot of one worker's counters, each since the runtime was built.
struct WorkerCounters {
  std::uint64_t polls = 0;             ///< times a task was polled, by a worker
  std::uint64_t local_schedules = 0;   ///< tasks queued by this worker on itself
  std::uint64_t remote_schedules = 0;  ///< tasks queued through the injector
  std::uint64_t lifo_hits = 0;         ///< polls that came out of the LIFO slot
  std::uint64_t overflows = 0;         ///< times the local queue moved half of itself out
  std::uint64_t steal_operations = 0;  ///< successful steals
  std::uint64_t stolen_tasks = 0;      ///< tasks they brought
  std::uint64_t parks = 0;             ///< times the worker went to sleep
  std::uint64_t unparks = 0;           ///< wake-ups that this worker sent
  std::uint64_t searches = 0;          ///< times the worker began to search by itself
  std::uint64_t injector_polls = 0;    ///< tasks taken from the injector
  std::uint64_t yields = 0;            ///< polls that ended in yield_now()
  std::uint64_t tasks_spawned = 0;
  std::uint64_t tasks_completed = 0;
  std::uint64_t hand_offs = 0;  ///< times the worker was taken from a thread that blocked

  WorkerCounters& operator+=(const WorkerCounters& other) noexcept;
};

/// Counters of the threads for calls that block: rt::spawn_blocking().
struct BlockingCounters {
  std::uint64_t calls = 0;         ///< calls taken since the runtime was built
  std::uint64_t threads = 0;       ///< at the moment
  std::uint64_t peak_threads = 0;  ///< the most at one time
};

/// Counters of a whole runtime, read while it runs: each is exact, together they are not a
/// snapshot of one instant.
struct RuntimeStats {
  std::vector<WorkerCounters> workers;
  WorkerCounters outside;  ///< what threads that are not workers did
  BlockingCounters blocking{};

  [[nodiscard]] WorkerCounters total() const noexcept;
};

namespace trace {

/// One count with one writer.
class Counter {
 public:
  void add(std::uint64_t n = 1) noexcept {
#if !defined(TASKBENCH_NO_COUNTERS)
    // relaxed: one writer; a reader wants some recent value and orders nothing by it
    value_.store(value_.load(base::relaxed) + n, base::relaxed);
#else
    static_cast<void>(n);
#endif
  }
  [[nodiscard]] std::uint64_t read() const noexcept {
    return value_.load(base::relaxed);  // relaxed: some recent value will do
  }

 private:
  base::Atomic<std::uint64_t> value_{0};
};

/// The live form of WorkerCounters.
struct alignas(base::kFalseSharingBytes) CounterBlock {
  Counter polls;
  Counter local_schedules;
  Counter remote_schedules;
  Counter lifo_hits;
  Counter overflows;
  Counter steal_operations;
  Counter stolen_tasks;
  Counter parks;
  Counter unparks;
  Counter searches;
  Counter injector_polls;
  Counter yields;
  Counter tasks_spawned;
  Counter tasks_completed;
  Counter hand_offs;

  [[nodiscard]] WorkerCounters snapshot() const noexcept;
};

}  // namespace trace
}  // namespace taskbench::rt
