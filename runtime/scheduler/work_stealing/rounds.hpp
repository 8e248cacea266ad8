// Keeps busy workers level, and with them the tasks that yield (docs/adr/0006).
//
// Each worker counts its rounds, and publishes the count: a round is over when all tasks that were
// queued at its beginning had their turn. At the look that it takes every `injector_interval`
// polls, a worker that is more than kMaxLead rounds ahead of another takes over half of the
// difference in queue length or, if it is twice as far ahead because the other worker is slow, at
// least an eighth of the other's queue; a worker that is as far behind, with a queue that is no
// longer than the other's, takes over the other's count. A task that yields counts
// its turns; if it is behind the round of its worker, it is polled again at once, a few times,
// until it has caught up. So yielding tasks stay level, whichever worker they are on and however
// many others share it.
//
// Threads: all for the one that runs the worker, but `other` may belong to a running worker.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/base/cache_line.hpp"
#include "runtime/base/sync_primitives.hpp"
#include "runtime/task/header.hpp"

namespace taskbench::rt::work_stealing {

/// The rounds of one worker.
class Rounds {
 public:
  /// Whether a task that yields while no other waits is polled again at once, and never queued.
  static constexpr bool kKeepsLoneTasks = true;

  /// When a task is woken: its turns count from its next yield on.
  static void forget(task::Header* task) { task->turn = kNoTurn; }

  /// Whether a task has yielded, or counts as one that has, since it was spawned or woken.
  static bool has_yielded(const task::Header* task) { return task->turn != kNoTurn; }

  /// After a poll that ended in a yield. Returns whether the task is behind: it is polled again at
  /// once though others wait.
  [[nodiscard]] bool count_yield(task::Header* task) const {
    const auto round = static_cast<std::uint16_t>(round_);
    std::uint16_t turn = task->turn;
    std::int32_t behind = static_cast<std::int16_t>(round - turn);
    // A task that is far behind comes from a worker with another count; its debt is forgiven.
    if (turn == kNoTurn || behind > kMaxCatchUp) {
      turn = round;
      behind = 0;
    }
    ++turn;
    task->turn = turn == kNoTurn ? kNoTurn + 1 : turn;
    return behind - 1 > kMaxLead;
  }

  /// After the yield of a task that is polled again at once since no other waits. Each of its turns
  /// is a round, so there is nothing for a thief to chase, either. Its next turn is counted here,
  /// and not again when it comes out of the queue.
  void count_turn_alone() {
    publish(round_ + 1);
    turns_left_ = 2;
  }

  /// Called for each task that comes out of the queue.
  template <class Queue>
  void count_turn(const Queue& queue) {
    if (--turns_left_ != 0) return;
    turns_left_ = queue.size() + 1;
    publish(round_ + 1);
  }

  /// Goes on from the count of a worker from which all tasks queued here were stolen.
  void adopt(const Rounds& other) {
    // relaxed: only a count to compare
    publish(other.published_.load(base::relaxed));
  }
  /// Takes the place of a worker that no longer runs.
  void take_over(const Rounds& other) {
    turns_left_ = other.turns_left_;
    publish(other.round_);
  }

  /// Compares the worker with another. Returns how many of its tasks to take over.
  template <class Queue>
  std::uint32_t level_with(const Rounds& other, const Queue& own_queue, const Queue& others_queue) {
    // relaxed: a count to compare; nothing is read on the strength of it
    const std::uint32_t others_round = other.published_.load(base::relaxed);
    const auto lead = static_cast<std::int32_t>(round_ - others_round);
    // The queues are looked at only if the counts are far apart: the other worker writes the line
    // of its own in each poll, and would have to fetch it back.
    if (lead < -kMaxLead) {
      const std::uint32_t others_size = others_queue.size();
      // The worker with the longer queue cannot catch up, and the other must see that.
      if (others_size != 0 && own_queue.size() <= others_size) publish(others_round);
      return 0;
    }
    if (lead <= kMaxLead) return 0;
    const std::uint32_t own_size = own_queue.size();
    const std::uint32_t others_size = others_queue.size();
    if (others_size == 0) return 0;
    std::uint32_t wanted = others_size > own_size ? (others_size - own_size) / 2 : 0;
    // This worker is ahead even with as long a queue: the other is slower, and gives some at every
    // look.
    if (lead > 2 * kMaxLead) wanted = std::max(wanted, others_size / 8 + 1);
    return wanted;
  }

 private:
  /// The turn of a task that has not yielded since it was spawned or woken.
  static constexpr std::uint16_t kNoTurn = 0;

  /// How many rounds a worker may be ahead of another before it takes over half of its queue.
  /// Workers that are equally loaded drift apart by one or two.
  static constexpr std::int32_t kMaxLead = 8;
  /// How many turns a task that is behind may make up for.
  static constexpr std::int32_t kMaxCatchUp = 1024;

  void publish(std::uint32_t round) {
    round_ = round;
    // relaxed: only a count to compare
    published_.store(round, base::relaxed);
  }

  std::uint32_t round_ = 0;
  std::uint32_t turns_left_ = 1;  // of the current round
  /// For the others; apart from what the worker writes in each poll.
  alignas(base::kFalseSharingBytes) base::Atomic<std::uint32_t> published_{0};
};

}  // namespace taskbench::rt::work_stealing
