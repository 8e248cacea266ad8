// How the tasks of one iteration tell the thread outside that the last of them has run.
//
// Who may call what: begin() and verify() belong to the thread that drives the iterations, and
// only while no task of an iteration is under way; count() and count_in_turn() belong to the tasks.
//
// 1. `counted_` and `target_` only grow between two calls of verify(), so one number serves both
//    purposes: the task that reaches the target is the last of its iteration, and the sum over all
//    iterations is what verify() checks. Counting costs a task one locked instruction and nothing
//    else.
// 2. From the moment that the last task sends, the driving thread may begin the next iteration, or
//    destroy this object. So counting is the last access of every other task, and the last one
//    takes the sender out before it sends.
// 3. Everything is on one cache line of its own: counting misses at most once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/sync/oneshot.hpp"

namespace taskbench::workloads {

/// Neighbouring cache lines are fetched in pairs: two cells that different threads write often need
/// this distance.
inline constexpr std::size_t kFalseSharingBytes = 128;

/// A notification without content.
struct Signal {};

using SignalSender = rt::sync::oneshot::Sender<Signal>;
using SignalReceiver = rt::sync::oneshot::Receiver<Signal>;

class alignas(kFalseSharingBytes) Countdown {
 public:
  /// Starts an iteration of `tasks` tasks, at least one. The receiver learns when all have counted.
  [[nodiscard]] SignalReceiver begin(std::uint64_t tasks) {
    target_ += tasks;
    auto channel = rt::sync::oneshot::channel<Signal>();
    done_.emplace(std::move(channel.first));
    return std::move(channel.second);
  }

  /// Called once by every task, as its last use of the workload's state.
  void count() {
    // acq_rel: release hands this task's writes to the task that counts last. The acquire of the
    // last task takes over those of all the others (the counter's release sequence), and its send
    // passes them on.
    const std::uint64_t target = target_;  // before counting: invariant 2
    if (counted_.fetch_add(1, std::memory_order_acq_rel) + 1 == target) signal();
  }

  /// Like count(), for tasks that run strictly one after the other, each started by its
  /// predecessor. True for the last one.
  bool count_in_turn() {
    // relaxed: the spawn of the next task orders the tasks. If a scheduler failed to order them,
    // counts would be lost here, and verify() would report it.
    const std::uint64_t counted = counted_.load(std::memory_order_relaxed) + 1;
    counted_.store(counted, std::memory_order_relaxed);
    if (counted != target_) return false;
    signal();
    return true;
  }

  /// Compares the count since the last call with the expected one, and starts again. `what` is the
  /// noun for what is counted: "tasks".
  [[nodiscard]] std::optional<std::string> verify(std::string_view what);

 private:
  void signal() {
    SignalSender done = std::move(*done_);
    // The send fails only if the driving thread has given up the iteration and no longer listens.
    (void)done.send(Signal{});
  }

  std::atomic<std::uint64_t> counted_{0};
  std::uint64_t target_ = 0;  // written by begin() before the spawns that make it visible
  std::optional<SignalSender> done_;
};

/// A sentence if the counts differ, nothing if they agree.
[[nodiscard]] std::optional<std::string> compare_counts(std::string_view what,
                                                        std::uint64_t expected,
                                                        std::uint64_t actual);

/// `heard` is the result of the receiver from begin(). Throws std::runtime_error if it is empty:
/// the last task was destroyed instead of run to its end.
void require_heard(const std::optional<Signal>& heard);

}  // namespace taskbench::workloads
