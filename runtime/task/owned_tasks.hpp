// The list of a runtime's live tasks, in shards.
//
// The list stands for the one reference that a queued task needs: a wake queues a task without
// touching a count, because the list keeps the task. A task leaves the list only when it is
// complete, and a complete task can no longer be queued.
//
// A task enters the list when it first becomes idle. Before that it is in a queue or being polled,
// so shutdown finds it there; a task that finishes in its first poll never costs a list operation.
//
// Threads: insert and remove from any thread; claim_all and cancel_idle while no new task can
// become idle.
//
// Invariants
//   K1  A task is in exactly one shard from its first idling until it completes.
//   K2  Links are guarded by the lock of the shard that Trailer::shard names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/base/cache_line.hpp"
#include "runtime/base/sync_primitives.hpp"
#include "runtime/task/harness.hpp"

namespace taskbench::rt::task {

class OwnedTasks {
 public:
  explicit OwnedTasks(std::size_t shard_count)
      : shard_count_(shard_count), shards_(std::make_unique<Shard[]>(shard_count)) {}

  /// Caller holds the poll right of `task`, which is in no list. `shard` < shard count.
  void insert(Header* task, std::size_t shard_index) noexcept {
    Trailer& trailer = trailer_of(task);
    trailer.shard = static_cast<std::uint32_t>(shard_index);
    trailer.previous = nullptr;
    task->flags |= Header::kOwned;
    Shard& shard = shards_[shard_index];
    base::SpinGuard guard(shard.lock);
    trailer.next = shard.first;
    if (shard.first != nullptr) trailer_of(shard.first).previous = task;
    shard.first = task;
  }

  /// Caller holds the poll right of `task`, which is in the list.
  void remove(Header* task) noexcept {
    Trailer& trailer = trailer_of(task);
    task->flags &= static_cast<std::uint8_t>(~Header::kOwned);
    Shard& shard = shards_[trailer.shard];
    base::SpinGuard guard(shard.lock);
    if (trailer.next != nullptr) trailer_of(trailer.next).previous = trailer.previous;
    if (trailer.previous != nullptr) {
      trailer_of(trailer.previous).next = trailer.next;
    } else {
      shard.first = trailer.next;
    }
  }

  /// Shutdown: takes the poll right of every idle task and marks the others cancelled. Returns the
  /// taken ones linked through queue_next; the caller cancels them, which removes them from here.
  [[nodiscard]] Header* claim_all() noexcept {
    Header* claimed = nullptr;
    for (std::size_t i = 0; i < shard_count_; ++i) {
      base::SpinGuard guard(shards_[i].lock);
      for (Header* task = shards_[i].first; task != nullptr; task = trailer_of(task).next) {
        if (!claim_for_shutdown(task)) continue;
        task->queue_next = claimed;
        claimed = task;
      }
    }
    return claimed;
  }

  /// Shutdown: claims all and cancels them.
  void cancel_idle() noexcept {
    for (Header* task = claim_all(); task != nullptr;) {
      Header* const next = task->queue_next;
      cancel(task);
      task = next;
    }
  }

  [[nodiscard]] bool empty() noexcept {
    for (std::size_t i = 0; i < shard_count_; ++i) {
      base::SpinGuard guard(shards_[i].lock);
      if (shards_[i].first != nullptr) return false;
    }
    return true;
  }

 private:
  struct alignas(base::kFalseSharingBytes) Shard {
    base::SpinLock lock;
    Header* first TASKBENCH_GUARDED_BY(lock) = nullptr;
  };

  std::size_t shard_count_;
  std::unique_ptr<Shard[]> shards_;
};

}  // namespace taskbench::rt::task
