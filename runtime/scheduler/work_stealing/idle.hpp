// Which workers sleep, how many search, and whom to wake.
//
// The word `state_` counts the workers that are searching and those that are awake. A push that
// finds no worker searching and one asleep wakes one, which starts out searching; a searcher that
// finds work stops searching, looks whether there is more, and if so wakes the next. So a burst of
// pushes costs one wake-up and the pool ramps up smoothly.
//
// No wake-up is lost: the story of two threads
//   pusher:   publish the task;    fence;  read state_
//   leaver:   leave state_ (R);    fence;  read all queues
// One of the two fences comes first. If it is the pusher's, the leaver sees the task. If it is the
// leaver's, the pusher sees that the leaver sleeps or no longer searches. A leaver looks whenever
// no worker is searching after (R); if one is, that searcher's own (R) comes later, and it looks.
//
// Which fence: workers push often, so their fence is light and a leaver's is heavy; threads outside
// the pool pass a full fence, with which a full fence of the leaver is enough. So a leaver needs
// the heavy one only while other workers are awake: a sleeping worker pushes nothing, and its
// earlier pushes are visible since its own (R). And a searcher that stops while no worker sleeps
// need not look at all: none could be woken, and a worker that falls asleep later looks itself.
//
// Threads: any. sleepers_ is guarded by mutex_; state_ is changed under mutex_ where the number of
// awake workers changes, so that the two agree.
//
// Invariants
//   L1  searching <= awake <= worker count.
//   L2  A worker is in sleepers_ exactly when it is not counted as awake.
//   L3  A worker taken from sleepers_ is counted as awake and searching by the thread that took it.
//
// References: golang/go src/runtime/proc.go, "Worker thread parking/unparking"; tokio
// runtime/scheduler/multi_thread/idle.rs.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/base/asymmetric_fences.hpp"
#include "runtime/base/cache_line.hpp"
#include "runtime/base/sync_primitives.hpp"
#include "runtime/scheduler/work_stealing/policy.hpp"

namespace taskbench::rt::work_stealing {

class Idle {
 public:
  explicit Idle(std::uint32_t worker_count);

  /// Stands for no worker. A plain number because std::optional's two halves are stored apart and
  /// read as one word, which waits until all stores before it are done.
  static constexpr std::uint32_t kNobody = UINT32_MAX;

  /// Weighs the leavers' fences against the work counted by the workers.
  base::FenceBalance fences;

  /// Who published a task.
  enum class Pusher : std::uint8_t { worker, outside };

  /// The worker to wake for a task just published, or kNobody. Includes the pusher's fence.
  [[nodiscard]] std::uint32_t worker_to_notify(Pusher pusher) {
    // seq_cst: the pusher's half of the story at the top
    if (pusher == Pusher::worker) {
      Policy::pusher_fence();
    } else {
      base::full_fence();
    }
    // relaxed: ordered by the fence
    if (!needs_wake(state_.load(base::relaxed))) return kNobody;
    return take_sleeper();
  }

  /// Counts the caller as searching, unless half of the workers search already. Returns whether it
  /// did. Workers that ask at the same moment may exceed the bound; it is only a throttle.
  [[nodiscard]] bool try_start_searching() {
    // relaxed: a throttle; no data depends on it
    const std::uint64_t seen = state_.load(base::relaxed);
    if (!Policy::may_search(searching(seen), worker_count_)) return false;
    // relaxed: counted for the throttle and for needs_wake; a pusher that skips its wake-up
    // because of this count relies on the fence in stop_searching and park, not on this
    state_.fetch_add(kOneSearching, base::relaxed);
    return true;
  }

  /// Called by a searcher that found work. True: it was the last one searching, some worker sleeps,
  /// and the caller must look whether there is more (the fence is included).
  [[nodiscard]] bool stop_searching() {
    // release: (R) of the story at the top; pairs with the fence after a later (R): what this
    // worker has queued of a batch is visible to the searcher that stops last. The fence below
    // acquires the (R) of workers that stopped or went to sleep before
    const std::uint64_t before = state_.fetch_sub(kOneSearching, base::release);
    if (Policy::enough_search(searching(before) - 1)) return false;
    if (awake(before) == worker_count_) return false;
    leaver_fence(awake(before) - 1);
    return true;
  }

  /// Called when worker `index` goes to sleep. True: no worker is searching now, and the caller
  /// must look at all queues once more before it really sleeps (the fence is included).
  [[nodiscard]] bool park(std::uint32_t index, bool was_searching);

  /// Called when worker `index` wakes up by itself. True: it is awake and searching. False: another
  /// thread has woken it already, and its token is on its way.
  [[nodiscard]] bool leave(std::uint32_t index);

  /// For Strand::Sleepers.
  [[nodiscard]] const base::Atomic<std::uint64_t>* state() const { return &state_; }
  [[nodiscard]] std::uint64_t all_awake() const { return worker_count_ * kOneAwake; }

  /// Whether some worker searches or sleeps; a hint.
  [[nodiscard]] bool has_spare() const {
    const std::uint64_t seen = state_.load(base::relaxed);  // relaxed: a hint
    return searching(seen) != 0 || awake(seen) < worker_count_;
  }
  /// Whether no worker is awake. That stays so until a function that names a worker is called.
  [[nodiscard]] bool all_asleep() const {
    return awake(state_.load(base::relaxed)) == 0;  // relaxed: the caller's lock orders it
  }

  /// The story's last resort, for a worker that has seen work after park(): the worker to wake.
  [[nodiscard]] std::uint32_t worker_to_notify_again() {
    // relaxed: the caller has fenced
    if (!needs_wake(state_.load(base::relaxed))) return kNobody;
    return take_sleeper();
  }

 private:
  static constexpr std::uint64_t kOneSearching = 1;
  static constexpr std::uint64_t kOneAwake = std::uint64_t{1} << 32;

  static constexpr std::uint32_t searching(std::uint64_t state) {
    return static_cast<std::uint32_t>(state);
  }
  static constexpr std::uint32_t awake(std::uint64_t state) {
    return static_cast<std::uint32_t>(state >> 32);
  }
  [[nodiscard]] bool needs_wake(std::uint64_t state) const {
    if (Policy::enough_search(searching(state))) return false;
    return awake(state) < worker_count_;
  }
  /// `others_awake`: workers that may be pushing behind light fences.
  void leaver_fence(std::uint32_t others_awake) {
    // seq_cst: the leaver's half of the story at the top
    if (others_awake == 0) {
      base::full_fence();
    } else {
      Policy::leaver_fence();
    }
    // Counted even where the full fence was enough: a worker that often leaves alone often leaves
    // beside others, too.
    fences.count_heavy();
  }
  std::uint32_t take_sleeper();

  alignas(base::kFalseSharingBytes) base::Atomic<std::uint64_t> state_;
  const std::uint32_t worker_count_;
  alignas(base::kFalseSharingBytes) base::Mutex mutex_;
  std::vector<std::uint32_t> sleepers_ TASKBENCH_GUARDED_BY(mutex_);
};

}  // namespace taskbench::rt::work_stealing
