// A processor (the P of G, M and P): a queue of tasks and the right to run them. A machine (M, a
// thread) runs tasks only while it holds one.
//
// Threads: everything belongs to the machine that holds the processor, except what thieves take
// (`queue`, `next`), what the monitor looks at (`slices`, `slice_is_over`), and `lease`.
#pragma once

#include <cstdint>
#include <utility>

#include "runtime/base/cache_line.hpp"
#include "runtime/base/cell.hpp"
#include "runtime/base/random.hpp"
#include "runtime/base/sync_primitives.hpp"
#include "runtime/queue/local_queue.hpp"
#include "runtime/scheduler/lease.hpp"
#include "runtime/task/header.hpp"
#include "runtime/trace/counters.hpp"
#include "runtime/trace/recording.hpp"

namespace taskbench::rt::go {

/// The one-task LIFO part of the queue. Unlike the task in work_stealing's slot, its task can be
/// stolen.
template <class Task>
class RunNext {
 public:
  /// Holder: puts `task` here. Returns the task that was next until now, or nullptr.
  [[nodiscard]] Task* replace(Task* task) noexcept {
    // release: pairs with the acquire in steal(); only the holder has put anything here
    return task_.exchange(task, base::release);
  }

  /// Holder: takes out the task that is here, or returns nullptr.
  [[nodiscard]] Task* take() noexcept {
    // relaxed: only the holder puts a task here
    if (task_.load(base::relaxed) == nullptr) return nullptr;
    // relaxed: only the holder puts a task here; a thief that was faster leaves nullptr
    return task_.exchange(nullptr, base::relaxed);
  }

  /// Any thread: the task that is here now, to be given to steal() later.
  [[nodiscard]] Task* look() const noexcept {
    return task_.load(base::relaxed);  // relaxed: only compared, not followed
  }

  /// Any thread: takes `task`, which look() has returned. False: it is not here any more.
  [[nodiscard]] bool steal(Task* task) noexcept {
    // acquire: pairs with the release in replace(); relaxed: on failure another thread has it
    return task_.compare_exchange_strong(task, nullptr, base::acquire, base::relaxed);
  }

 private:
  base::Atomic<Task*> task_{nullptr};
};

struct Processor {
  Processor(std::uint32_t number, trace::Recorder events, std::uint64_t seed)
      : index(number), recorder(events), random(seed) {}

  [[nodiscard]] bool looks_empty() const noexcept {
    return next.look() == nullptr && queue.looks_empty();
  }

  void begin_idle() noexcept {
    idle = true;
    counters.parks.add();
    recorder.park();
  }
  void end_idle() noexcept {
    if (std::exchange(idle, false)) recorder.unpark();
  }

  const std::uint32_t index;
  RunNext<task::Header> next;
  queue::LocalQueue<task::Header*> queue;
  trace::CounterBlock counters;
  trace::Recorder recorder;
  base::FastRandom random;
  /// Tasks taken since the last look at the global queue. A Cell, in which models see two holders.
  base::Cell<std::uint32_t> ticks{0};
  bool idle = false;  ///< between begin_idle() and end_idle()

  alignas(base::kFalseSharingBytes) scheduler::Lease lease;
  /// Time slices begun. A task that comes out of `next` continues the previous slice.
  base::Atomic<std::uint32_t> slices{0};
  /// Set by the monitor: the slice has lasted too long, and its task is to go to the global queue.
  base::Atomic<bool> slice_is_over{false};
};

}  // namespace taskbench::rt::go
