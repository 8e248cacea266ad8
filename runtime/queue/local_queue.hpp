// A worker's run queue: a ring of fixed size, one producer, many consumers.
//
// Threads
//   push_back, push_behind, push_batch, pop_front, pop_back, rotate, free_slots: the owning worker
//   only.
//   steal_into: any other worker, with its own queue as the destination.
//   size, looks_empty: any thread; a snapshot that may be out of date at once.
//
// Positions are 32-bit and wrap. The values are in [head, tail). head only grows; only pop_back
// makes tail smaller.
//
// Invariants
//   I1  tail - head <= capacity (modulo 2^32).
//   I2  Only the owner writes slots and tail_, and outside of lock_ never a slot in [head, tail).
//   I3  head_ is written only inside lock_: by the owner that pops or overflows, by a thief. So is
//       tail_ where it shrinks.
//   I4  A slot is read, to take its value, only inside lock_.
//   I5  Capacity is at most half of the position range, so full and empty differ.
//
// No operation of the owner is a read-modify-write, nor a fence. push_back is an acquire load of
// head_ and a release store of tail_, outside of the lock: it touches no slot that a thief may
// read (I2), and a stale head_ only makes the queue look fuller than it is. pop_front and pop_back
// enter the biased lock, which is two stores and a load for the owner. A thief pays for all three
// with one heavy fence, and takes half of the queue for it.
//
// Rejected: one compare-exchange per pop, as in Go and Tokio (docs/adr/0002); a growable Chase-Lev
// deque (reclamation costs a locked instruction an operation); a bounded MPMC ring (locked
// instructions on both ends, and under load nobody contends).
//
// References: golang/go src/runtime/proc.go (runqput, runqgrab); Lerche, "Making the Tokio
// scheduler 10x faster" (2019); tokio runtime/scheduler/multi_thread/queue.rs.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "runtime/base/biased_lock.hpp"
#include "runtime/base/cache_line.hpp"
#include "runtime/base/cell.hpp"
#include "runtime/base/sync_primitives.hpp"
#include "runtime/queue/limits.hpp"

namespace taskbench::rt::queue {

/// The result of a steal.
template <class T>
struct Stolen {
  T first{};                ///< to run at once; not in the thief's queue. Valid if count > 0.
  std::uint32_t count = 0;  ///< how many were taken, `first` included
};

/// `T` is a small trivially copyable value, in production a pointer to a task. `Lock`: BiasedLock,
/// or for comparison EvenLock.
template <class T, class Limits = ProductionLimits, class Lock = base::BiasedLock>
class LocalQueue {
 public:
  static constexpr std::uint32_t kCapacity = Limits::kLocalQueueCapacity;
  static_assert((kCapacity & (kCapacity - 1)) == 0 && kCapacity >= 2 && kCapacity <= (1U << 30));

  LocalQueue() = default;
  LocalQueue(const LocalQueue&) = delete;
  LocalQueue& operator=(const LocalQueue&) = delete;

  /// Starts at `position` instead of 0, for tests of the wrap-around.
  explicit LocalQueue(std::uint32_t position) : head_(position), tail_(position) {}

  /// Appends `value`. When the ring is full, half of it and `value` go to `overflow`, a callable
  /// taking std::span<const T> in queue order. Returns false exactly when that happened.
  template <class Overflow>
  bool push_back(T value, Overflow&& overflow) {
    // relaxed: only the owner, this thread, stores tail_
    const std::uint32_t tail = tail_.load(base::relaxed);
    // acquire: pairs with the release of head_ in steal_into, so that a slot is not written before
    // the thief that emptied it has read it
    if (tail - head_.load(base::acquire) == kCapacity) return push_full(value, overflow);
    append(value, tail);
    return true;
  }

  /// push_back() if the queue is not empty. Returns whether it was not.
  template <class Overflow>
  bool push_behind(T value, Overflow&& overflow) {
    // relaxed: only the owner, this thread, stores tail_
    const std::uint32_t tail = tail_.load(base::relaxed);
    // acquire: pairs with the release of head_ in steal_into, as in push_back
    const std::uint32_t queued = tail - head_.load(base::acquire);
    if (queued == 0) return false;
    if (queued == kCapacity) {
      push_full(value, overflow);
    } else {
      append(value, tail);
    }
    return true;
  }

  /// Slots that push_batch may fill now.
  [[nodiscard]] std::uint32_t free_slots() const {
    // relaxed: only the owner, this thread, stores tail_
    const std::uint32_t tail = tail_.load(base::relaxed);
    // acquire: pairs with the release of head_ in steal_into, as in push_back
    return kCapacity - (tail - head_.load(base::acquire));
  }

  /// Appends all of `values`, made visible by one store. Precondition: values.size() was at most
  /// free_slots() and nothing was pushed since.
  void push_batch(std::span<const T> values) {
    // relaxed: only the owner, this thread, stores tail_
    std::uint32_t tail = tail_.load(base::relaxed);
    for (const T& value : values) slot(tail++).set(value);
    // release: pairs with the acquire of tail_ in steal_into
    tail_.store(tail, base::release);
  }

  /// Takes the oldest value. Returns false when there is none.
  bool pop_front(T& out) {
    return pop_front(out, [](T) {});
  }

  /// Takes the oldest value, and calls `ahead` with the second value behind it, if there is one,
  /// for prefetching only: a thief may take it meanwhile. Returns false if the queue is empty.
  template <class Ahead>
  bool pop_front(T& out, Ahead&& ahead) {
    // relaxed: only the owner, this thread, stores tail_
    const std::uint32_t tail = tail_.load(base::relaxed);
    std::uint32_t head = 0;
    if (!owner_enter_unless_empty(tail, head)) return false;
    out = slot(head).get();
    // release: pairs with the acquire of head_ in size()
    head_.store(head + 1, base::release);
    lock_.owner_leave();
    if (tail - head > 2) ahead(slot(head + 2).get());
    return true;
  }

  /// Takes the newest value. Returns false if the queue is empty.
  bool pop_back(T& out) {
    // relaxed: only the owner, this thread, stores tail_
    const std::uint32_t tail = tail_.load(base::relaxed);
    std::uint32_t head = 0;
    if (!owner_enter_unless_empty(tail, head)) return false;
    out = slot(tail - 1).get();
    // relaxed: thieves read it inside the lock; nobody else reads a slot on the strength of it
    tail_.store(tail - 1, base::relaxed);
    lock_.owner_leave();
    return true;
  }

  /// Puts `value` behind the others and takes the oldest in its place, as push_back() and
  /// pop_front() would, but in one section of the lock and without an overflow. Returns false, and
  /// leaves `value` to the caller, when there are no others. Calls `ahead` as pop_front() does.
  template <class Ahead>
  [[nodiscard]] bool rotate(T& value, Ahead&& ahead) {
    // relaxed: only the owner, this thread, stores tail_
    const std::uint32_t tail = tail_.load(base::relaxed);
    std::uint32_t head = 0;
    if (!owner_enter_unless_empty(tail, head)) return false;
    const T oldest = slot(head).get();
    append(value, tail);  // of a full queue into the slot that has just been read
    // release: pairs with the acquire of head_ in size(): the tail is further already
    head_.store(head + 1, base::release);
    lock_.owner_leave();
    value = oldest;
    if (tail - head > 1) ahead(slot(head + 2).get());
    return true;
  }

  /// Moves half of this queue, rounded up, but at most `limit` values and no more than fit, to the
  /// end of `destination`, the calling thief's own queue; the oldest of them is returned instead of
  /// queued. Takes nothing while another thief is at work here, or while the owner lost its core
  /// inside the lock.
  Stolen<T> steal_into(LocalQueue& destination, std::uint32_t limit = kCapacity) {
    if (looks_empty()) return {};
    limit = std::min(limit, destination.free_slots());
    if (limit == 0) return {};
    if (!lock_.visitor_try_enter()) return {};
    // relaxed: inside the lock (I3)
    const std::uint32_t head = head_.load(base::relaxed);
    // acquire: pairs with the release of tail_ in push_back, so that the slots are there
    const std::uint32_t available = tail_.load(base::acquire) - head;
    Stolen<T> stolen;
    stolen.count = std::min(available - available / 2, limit);
    if (stolen.count > 0) {
      stolen.first = slot(head).get();
      destination.append_from(*this, head + 1, stolen.count - 1);
      // release: pairs with the acquire of head_ in push_back: the slots have been read
      head_.store(head + stolen.count, base::release);
    }
    lock_.visitor_leave();
    return stolen;
  }

  [[nodiscard]] std::uint32_t size() const {
    // acquire: pairs with the release of pops and steals. Head before tail: the tail that is read
    // was there with this head or a later one, so the difference can be too large but never
    // negative, and a queue that was never empty never looks empty.
    const std::uint32_t head = head_.load(base::acquire);
    // relaxed: a count; no slot is read on the strength of it
    return tail_.load(base::relaxed) - head;
  }

  [[nodiscard]] bool looks_empty() const { return size() == 0; }

 private:
  static constexpr std::uint32_t kMask = kCapacity - 1;

  base::Cell<T>& slot(std::uint32_t position) { return slots_[position & kMask]; }

  /// Enters the lock and reads the head, unless the queue, whose tail this is, is empty.
  [[nodiscard, gnu::always_inline]] bool owner_enter_unless_empty(std::uint32_t tail,
                                                                  std::uint32_t& head)
      TASKBENCH_TRY_ACQUIRE(true, lock_) {
    // relaxed: only a first look; an empty queue stays empty until the owner pushes
    if (head_.load(base::relaxed) == tail) return false;
    lock_.owner_enter();
    // relaxed: inside the lock (I3)
    head = head_.load(base::relaxed);
    if (head != tail) [[likely]]
      return true;
    lock_.owner_leave();
    return false;
  }

  /// Copies values from a victim that the caller, the owner of this queue, has locked. There is
  /// room.
  void append_from(LocalQueue& victim, std::uint32_t first, std::uint32_t count) {
    // relaxed: only the owner, this thread, stores tail_
    const std::uint32_t tail = tail_.load(base::relaxed);
    for (std::uint32_t i = 0; i < count; ++i) slot(tail + i).set(victim.slot(first + i).get());
    // release: pairs with the acquire of tail_ in steal_into, now with this queue as the victim
    tail_.store(tail + count, base::release);
  }

  void append(T value, std::uint32_t tail) {
    slot(tail).set(value);
    // release: pairs with the acquire of tail_ in steal_into
    tail_.store(tail + 1, base::release);
  }

  /// push_back() when the ring was full, unless a thief has made room since. Not inlined, for the
  /// sake of push_back(), which is, and needs fewer registers then.
  template <class Overflow>
  [[gnu::noinline]] bool push_full(T value, Overflow& overflow) {
    constexpr std::uint32_t kHalf = kCapacity / 2;
    std::array<T, kHalf + 1> batch;
    // relaxed: only the owner, this thread, stores tail_
    const std::uint32_t tail = tail_.load(base::relaxed);
    lock_.owner_enter();
    // relaxed: inside the lock (I3)
    const std::uint32_t head = head_.load(base::relaxed);
    const bool full = tail - head == kCapacity;
    if (full) {
      for (std::uint32_t i = 0; i < kHalf; ++i) batch[i] = slot(head + i).get();
      // release: pairs with the acquire of head_ in size()
      head_.store(head + kHalf, base::release);
    }
    lock_.owner_leave();
    if (!full) {
      append(value, tail);
      return true;
    }
    batch[kHalf] = value;
    overflow(std::span<const T>(batch));
    return false;
  }

  // The words that the owner writes all the time lie together, apart from the slots. Thieves write
  // them only when they steal.
  alignas(base::kFalseSharingBytes) Lock lock_;
  base::Atomic<std::uint32_t> head_{0};
  base::Atomic<std::uint32_t> tail_{0};
  alignas(base::kFalseSharingBytes) std::array<base::Cell<T>, kCapacity> slots_{};
};

}  // namespace taskbench::rt::queue
