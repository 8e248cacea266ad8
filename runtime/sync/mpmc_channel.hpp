// The part of an mpmc channel that does not depend on the message type: which end may use which
// slot of the ring, and which tasks wait.
//
// Threads: any, but a Wait lies in the frame of the task that awaits it and is used by its polls.
//
// A sender claims the slot at tail_, fills it and publishes it; a receiver claims the slot at
// head_, empties it and frees it. Each slot has a turn, which says who may claim it: the position
// itself for the sender of that position, the position + 1 for its receiver. A position is a lap
// and an index; a lap is larger than the capacity, so that the turns of one slot all differ, even
// if there is only one slot.
//
// Sending and receiving take no lock. A task that finds the ring full or empty queues under mutex_
// and looks again; a thread that has published or freed a slot checks whether a task waits.
//   waits:    attention_ = waits;      full fence;  is the slot mine?
//   changes:  turn or head_ changed;   full fence;  attention_?
// One of the two must see the other's store. Which slot is next depends on two words, head_ and a
// turn, which two threads may have changed: each then passes a fence and looks at both words, so
// the thread whose fence comes last sees the other's change.
//
// Invariants
//   C1  The lists, and each write of attention_, are guarded by mutex_.
//   C2  While the next slot can be received (or sent into) and a receiver (sender) is queued, some
//       thread is about to look at the list, or has taken a waiter out of it that will look: each
//       change wakes one waiter of each side that can go on. A woken waiter that is given up looks,
//       too.
//   C3  A slot is claimed only by a step that also fills or empties it, so giving up a wait loses
//       nothing.
//   C4  No slot is claimed for sending once tail_ has kClosed. Slots claimed before are still
//       received: the channel is drained when it is closed and head_ has reached tail_.
//
// Fairness: waiters are woken in the order of their arrival. A woken waiter may find that a thread
// that did not wait was faster; it keeps its place. After kPatience such wake-ups it is `first`:
// newcomers queue behind it. Only threads already past that check, with at most one operation each,
// and waiters that were woken before can still be faster. So no task starves.
//
// Rejected
//   * Handing a message to the waiting receiver. A wait that is given up would have to put it back
//     where it came from.
//   * Two semaphores around a ring. The holder of a permit must wait for the sender of its slot,
//     which may have lost its CPU.
//   * A light fence after each message and a heavy one before each wait. A channel that holds few
//     messages waits at each of them, and would pay a system call for each wait.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/cache_line.hpp"
#include "runtime/base/shared.hpp"
#include "runtime/base/sync_primitives.hpp"
#include "runtime/sync/wait_list.hpp"

namespace taskbench::rt::sync::mpmc::detail {

using Position = std::uint64_t;

/// The result of an attempt to claim a slot. `ended`: there will be no more slots.
enum class Claim : std::uint8_t { claimed, none, ended };

/// The beginning of each slot. The message lies beside its turn, as both move between cores.
struct SlotHead {
  base::Atomic<Position> turn{0};
};

class Channel : public base::Shared {
 public:
  static constexpr std::size_t kMaxCapacity = std::size_t{1} << 31;
  /// How often a waiter is woken in vain before newcomers must queue behind it.
  static constexpr int kPatience = 4;
  /// Spin rounds after another thread was faster. That thread then claims several slots while it
  /// has the cache lines, which would otherwise move for each slot.
  static constexpr int kBackOff = 16;

  /// The two sides; each has its bits in attention_.
  enum class Side : std::uint8_t { send, receive };
  class Wait;

  /// The slots are an array of a class that derives from SlotHead and has `slot_bytes`.
  Channel(std::size_t capacity, SlotHead* slots, std::size_t slot_bytes) noexcept;
  ~Channel() = default;

  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] SlotHead& slot_of(Position position) const noexcept {
    std::byte* const first = reinterpret_cast<std::byte*>(slots_);
    return *reinterpret_cast<SlotHead*>(first + index_of(position) * slot_bytes_);
  }

  /// Claims the next slot of a side unless waiters come first.
  [[nodiscard]] Claim try_claim(Side side, Position& claimed) noexcept {
    // relaxed: a hint; it is read again under mutex_
    if ((attention_.load(base::relaxed) & kFirst << shift(side)) != 0) [[unlikely]] {
      return is_over(side) ? Claim::ended : Claim::none;
    }
    return claim(side, claimed);
  }

  /// Publishes the slot that was claimed for sending and is now filled.
  void publish(Position position) noexcept {
    // release: pairs with the acquire in claim(): the message
    slot_of(position).turn.store(position + 1, base::release);
    changed();
  }
  /// Frees the slot that was claimed for receiving and is now empty.
  void free(Position position) noexcept {
    // release: pairs with the acquire in claim(): the message has left its slot
    slot_of(position).turn.store(position + lap_, base::release);
    changed();
  }

  /// Refuses messages from here on.
  void close() noexcept;
  [[nodiscard]] bool is_closed() const noexcept {
    // acquire: pairs with the release in close(): what came before it
    return (tail_.load(base::acquire) & kClosed) != 0;
  }
  /// Whether the channel is empty and no message will come.
  [[nodiscard]] bool is_drained() const noexcept;
  /// The number of messages in the channel, or being sent, at this moment.
  [[nodiscard]] std::size_t size() const noexcept;

  /// Counts another end of a side, which begins with one.
  void add_end(Side side) noexcept {
    ends_[index(side)].fetch_add(1, base::relaxed);  // relaxed: some end stays meanwhile
  }
  /// True: it was the last, and the channel is closed.
  [[nodiscard]] bool drop_end(Side side) noexcept;

 private:
  static constexpr Position kClosed = Position{1} << 63;

  // Bits of attention_, for each side; those of the receiving side are shifted by 2.
  static constexpr std::uint32_t kWaits = 1;  // a task is queued
  static constexpr std::uint32_t kFirst = 2;  // newcomers have to queue

  static constexpr std::size_t index(Side side) noexcept { return side == Side::send ? 0 : 1; }
  static constexpr int shift(Side side) noexcept { return side == Side::send ? 0 : 2; }
  static constexpr std::uint32_t kAnyWaits = kWaits | kWaits << 2;

  [[nodiscard]] std::size_t index_of(Position position) const noexcept {
    return position & (lap_ - 1);
  }
  [[nodiscard]] Position after(Position position) const noexcept {
    const std::size_t next = index_of(position) + 1;
    return next < capacity_ ? position + 1 : position - index_of(position) + lap_;
  }
  [[nodiscard]] base::Atomic<Position>& next_of(Side side) noexcept {
    return side == Side::send ? tail_ : head_;
  }
  /// The turn at which a side may claim a position.
  static constexpr Position turn_at(Side side, Position position) noexcept {
    return side == Side::send ? position : position + 1;
  }
  [[nodiscard]] bool is_over(Side side) const noexcept {
    return side == Side::send ? is_closed() : is_drained();
  }

  [[nodiscard]] Claim claim(Side side, Position& claimed) noexcept {
    base::Atomic<Position>& next = next_of(side);
    Position position = next.load(base::relaxed);  // relaxed: the compare-exchange decides
    for (;;) {
      if ((position & kClosed) != 0) return Claim::ended;
      // acquire: pairs with the release in publish() and free(): what the slot holds, or that it
      // holds nothing
      if (slot_of(position).turn.load(base::acquire) == turn_at(side, position)) {
        // relaxed: what the slot holds was acquired with its turn
        if (next.compare_exchange_weak(position, after(position), base::relaxed, base::relaxed)) {
          claimed = position;
          return Claim::claimed;
        }
        for (int i = 1; i < base::patience(kBackOff); ++i) base::spin_hint();
        continue;
      }
      const Position seen = position;
      position = next.load(base::relaxed);  // relaxed: the faster thread has published its turn
      if (position == seen) return is_over(side) ? Claim::ended : Claim::none;
    }
  }
  /// Whether the next slot of a side can be claimed, or its waiters must learn of the end.
  [[nodiscard]] bool can_go_on(Side side) noexcept;

  void changed() noexcept {
    base::full_fence();  // seq_cst: the changer's half of the story at the top
    // relaxed: ordered by the fence
    if ((attention_.load(base::relaxed) & kAnyWaits) != 0) [[unlikely]]
      wake_who_can_go_on();
  }
  void wake_who_can_go_on() noexcept;
  void set_attention() noexcept TASKBENCH_REQUIRES(mutex_);

  struct Waiters {
    sync::detail::WaitList list;
    std::uint32_t first = 0;  // how many of its Waits are `first`
  };

  const std::size_t capacity_;
  const Position lap_;
  SlotHead* const slots_;
  const std::size_t slot_bytes_;
  alignas(base::kFalseSharingBytes) base::Atomic<Position> tail_{0};
  alignas(base::kFalseSharingBytes) base::Atomic<Position> head_{0};
  alignas(base::kFalseSharingBytes) base::Atomic<std::uint32_t> attention_{0};
  base::Atomic<std::uint32_t> ends_[2] = {1, 1};
  base::Mutex mutex_;
  Waiters waiters_[2] TASKBENCH_GUARDED_BY(mutex_);
};

/// A sender's or receiver's place in the queue.
class Channel::Wait : private sync::detail::Waiter {
 public:
  Wait(Channel& channel, Side side) noexcept : channel_(channel), side_(side) {}
  ~Wait() {
    if (is_waiting_) give_up();
  }
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

  /// Whether claim_or_queue() has been called, and has to be called again.
  [[nodiscard]] bool is_waiting() const noexcept { return is_waiting_; }
  /// Claims a slot. `none`: the task is queued, and will be woken.
  [[nodiscard]] Claim claim_or_queue(task::Header* task, Position& claimed) noexcept;

 private:
  [[nodiscard]] Waiters& waiters() noexcept TASKBENCH_REQUIRES(channel_.mutex_) {
    return channel_.waiters_[index(side_)];
  }
  void leave() noexcept TASKBENCH_REQUIRES(channel_.mutex_);
  void give_up() noexcept;

  Channel& channel_;
  const Side side_;
  bool is_waiting_ = false;  // was queued, and has not seen the outcome; its own task only
  bool is_first_ TASKBENCH_GUARDED_BY(channel_.mutex_) = false;
  int in_vain_ = 0;  // wake-ups since the wait began
};

}  // namespace taskbench::rt::sync::mpmc::detail
