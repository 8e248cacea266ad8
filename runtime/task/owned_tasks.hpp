// The list of a runtime's live tasks, in shards.
//
// The list stands for the one reference that a queued task needs: a wake queues a task without
// touching a count, because the list keeps the task. A task leaves the list only when it is
// complete, and a complete task can no longer be queued.
//
// A task enters the list when it first becomes idle. Before that it is in a queue or being polled,
// so shutdown finds it there; a task that finishes in its first poll never costs a list operation.
//
// Threads: insert and remove from any thread, which says whether it is the owner of the shard (at
// most one thread at a time); claim_all and cancel_idle while no new task can become idle.
//
// Invariants
//   K1  A task is in exactly one shard from its first idling until it completes.
//   K2  Links are guarded by the lock of the shard that Trailer::shard names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/base/biased_lock.hpp"
#include "runtime/base/cache_line.hpp"
#include "runtime/base/cell.hpp"
#include "runtime/base/sync_primitives.hpp"
#include "runtime/task/harness.hpp"

namespace taskbench::rt::task {

/// `Lock`: BiasedLock where most tasks end on the worker on which they first waited, or EvenLock.
template <class Lock>
class OwnedTasksUnder {
 public:
  /// Which side of a shard's lock the calling thread is on.
  enum class Side : std::uint8_t { owner, visitor };

  explicit OwnedTasksUnder(std::size_t shard_count)
      : shard_count_(shard_count), shards_(std::make_unique<Shard[]>(shard_count)) {}

  /// Caller holds the poll right of `task`, which is in no list. `shard` < shard count.
  void insert(Header* task, std::size_t shard_index, Side side = Side::visitor) noexcept {
    Trailer& trailer = trailer_of(task);
    trailer.shard = static_cast<std::uint32_t>(shard_index);
    std::construct_at(&trailer.previous, nullptr);
    task->flags |= Header::kOwned;
    Shard& shard = shards_[shard_index];
    const Inside guard(shard.lock, side);
    Header* const next = shard.first.get();
    std::construct_at(&trailer.next, next);
    if (next != nullptr) trailer_of(next).previous.set(task);
    shard.first.set(task);
  }

  /// The shard of a task that is in the list.
  [[nodiscard]] static std::size_t shard_of(Header* task) noexcept {
    return trailer_of(task).shard;
  }

  /// Caller holds the poll right of `task`, which is in the list.
  void remove(Header* task, Side side = Side::visitor) noexcept {
    Trailer& trailer = trailer_of(task);
    task->flags &= static_cast<std::uint8_t>(~Header::kOwned);
    Shard& shard = shards_[trailer.shard];
    const Inside guard(shard.lock, side);
    Header* const previous = trailer.previous.get();
    Header* const next = trailer.next.get();
    if (next != nullptr) trailer_of(next).previous.set(previous);
    if (previous != nullptr) {
      trailer_of(previous).next.set(next);
    } else {
      shard.first.set(next);
    }
  }

  /// Shutdown: takes the poll right of every idle task and marks the others cancelled. Returns the
  /// idle ones linked through queue_next; the caller cancels them, which removes them from here.
  [[nodiscard]] Header* claim_all() noexcept {
    Header* claimed = nullptr;
    for (std::size_t i = 0; i < shard_count_; ++i) {
      const Inside guard(shards_[i].lock, Side::visitor);
      for (Header* task = shards_[i].first.get(); task != nullptr;
           task = trailer_of(task).next.get()) {
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
      const Inside guard(shards_[i].lock, Side::visitor);
      if (shards_[i].first.get() != nullptr) return false;
    }
    return true;
  }

 private:
  /// While it lives, the calling thread is inside the lock.
  class [[nodiscard]] TASKBENCH_LOCK_SCOPE Inside {
   public:
    Inside(Lock& lock, Side side) noexcept TASKBENCH_ACQUIRE(lock) : lock_(lock), side_(side) {
      if (side == Side::owner) {
        lock.owner_enter();
      } else {
        lock.visitor_enter();
      }
    }
    ~Inside() TASKBENCH_RELEASE() {
      if (side_ == Side::owner) {
        lock_.owner_leave();
      } else {
        lock_.visitor_leave();
      }
    }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    Lock& lock_;
    const Side side_;
  };

  struct alignas(base::kFalseSharingBytes) Shard {
    Lock lock;
    base::Cell<Header*> first TASKBENCH_GUARDED_BY(lock){nullptr};
  };

  std::size_t shard_count_;
  std::unique_ptr<Shard[]> shards_;
};

using OwnedTasks = OwnedTasksUnder<base::EvenLock>;

}  // namespace taskbench::rt::task
