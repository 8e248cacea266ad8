// The scheduler's decisions where schedulers differ. docs/schedulers.md says what each decision
// gives.
#pragma once

#include <cstdint>

#include "runtime/base/asymmetric_fences.hpp"
#include "runtime/base/biased_lock.hpp"
#include "runtime/queue/injector.hpp"
#include "runtime/queue/local_queue.hpp"
#include "runtime/scheduler/work_stealing/rounds.hpp"
#include "runtime/task/harness.hpp"
#include "runtime/task/owned_tasks.hpp"
#include "runtime/task/poll.hpp"

namespace taskbench::rt::work_stealing {

struct Policy {
  using LocalQueue = queue::LocalQueue<task::Header*>;
  using Injector = queue::Injector<task::Header>;
  using OwnedTasks = task::OwnedTasksUnder<base::BiasedLock>;
  using Rounds = work_stealing::Rounds;

  /// What happens to a task that was taken out of a queue.
  [[gnu::always_inline]] static task::Polled poll(task::Header* task) noexcept {
    return task::poll_inline(task);
  }
  static void cancel(task::Header* task) noexcept { task::cancel(task); }

  /// Whether one more worker may search: half of the workers are enough to find all work.
  static constexpr bool may_search(std::uint32_t searching, std::uint32_t workers) {
    return 2 * searching < workers;
  }
  /// Whether this many searchers find every pushed task, and wake others if there is more.
  static constexpr bool enough_search(std::uint32_t searching) { return searching != 0; }
  /// Whether a worker looks everywhere only once before it sleeps, and not for a while.
  static constexpr bool searches_once(bool watches_descriptors) { return watches_descriptors; }

  /// How many tasks in a row may be taken from the back of the queue, since tasks wait for others.
  /// Enough to finish a tree of tasks before many others are begun; those who wait at the front
  /// should not feel it.
  static constexpr std::uint32_t kDescent = base::capacity(256);

  /// The fence of a worker, which pushes often; see idle.hpp.
  static void pusher_fence() noexcept {
    base::light_fence();  // seq_cst: the pusher's half of the story in idle.hpp
  }
  /// The fence of a worker that stops searching, or goes to sleep, while others may push.
  static void leaver_fence() noexcept {
    base::heavy_fence();  // seq_cst: the leaver's half of the story in idle.hpp
  }
};

}  // namespace taskbench::rt::work_stealing
