// The forks of one thread that others may run: a deque of Chase and Lev, of fixed size, whose owner
// passes no locked instruction.
//
// The owner pushes and pops at the back; thieves take the oldest value, at the front, one at a
// time. A thief pays for the owner's cheap pop with one heavy fence.
//
// Threads: push_backwards and pop by the owner; steal and looks_empty by any.
//
// Invariants
//   F1  front_ only grows. The values are in [front_, back_); during a pop, back_ may be one less
//       than front_.
//   F2  Only the owner writes back_ and slots, and never a slot in [front_, back_).
//   F3  A value leaves at the front by a compare-exchange of front_, by a thief or the owner. The
//       owner takes a value without one only if another value is before it.
//
// Why no value is taken twice: the story of two threads
//   owner:  back_ = b;    light fence;  read front_: f < b, so it takes the value at b
//   thief:  read front_;  heavy fence;  read back_: more than f, so it tries for the value at f
// Both take the same value only if the thief has read front_ = b. If the owner's fence comes first,
// the thief reads back_ = b and finds nothing there. If the thief's comes first, the owner sees the
// front_ that the thief has read, or a later one: then f < b does not hold, and the
// compare-exchange decides. With more thieves this holds for each of them.
//
// Rejected: the BiasedLock of LocalQueue (a pop would be three stores in place of one, and an owner
// would wait for the system call of each thief); the protocol THE of Cilk-5 (a lock for thieves and
// for the last value, which is no faster here); a deque that grows (if it is full, the only cost is
// that the next forks are not offered; see ForkJoinBase).
//
// References: Chase & Lev, "Dynamic circular work-stealing deque" (SPAA 2005); Lê, Pop, Cohen &
// Zappa Nardelli, "Correct and efficient work-stealing for weak memory models" (PPoPP 2013).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/base/asymmetric_fences.hpp"
#include "runtime/base/cache_line.hpp"
#include "runtime/base/sync_primitives.hpp"

namespace taskbench::rt::queue {

/// `T` is a small trivially copyable value, in production the frame of a fork.
template <class T>
class ForkDeque {
 public:
  /// A power of two. Deep enough for a recursion that forks ten a level a hundred levels deep.
  static constexpr std::uint32_t kCapacity = base::capacity(1024);

  ForkDeque() = default;
  ForkDeque(const ForkDeque&) = delete;
  ForkDeque& operator=(const ForkDeque&) = delete;

  /// Appends the last of `values` first, so that pops give them in their order. False: there is no
  /// room for all of them, and none was appended.
  [[nodiscard]] bool push_backwards(std::span<const T> values) noexcept {
    std::int64_t back = back_.load(base::relaxed);  // relaxed: only the owner moves it
    const auto count = static_cast<std::int64_t>(values.size());
    if (back + count - front_seen_ > kCapacity) [[unlikely]] {
      // acquire: pairs with the release in steal(): the slots have been read (F2)
      front_seen_ = front_.load(base::acquire);
      if (back + count - front_seen_ > kCapacity) return false;
    }
    for (std::size_t i = values.size(); i != 0; --i) {
      slot(back++).store(values[i - 1], base::relaxed);  // relaxed: handed over by back_
    }
    back_.store(back, base::release);  // release: pairs with the acquire in steal()
    return true;
  }

  /// Takes the newest value. False: there is none, or a thief has got the last.
  [[nodiscard]] bool pop(T& value) noexcept {
    const std::int64_t back = back_.load(base::relaxed) - 1;  // relaxed: only the owner moves it
    // release: pairs with the acquire in steal(), like the push whose store this one replaces
    back_.store(back, base::release);
    base::light_fence();  // seq_cst: the owner's half of the story at the top
    // relaxed: ordered by the fence
    std::int64_t front = front_.load(base::relaxed);
    if (front < back) [[likely]] {
      value = slot(back).load(base::relaxed);  // relaxed: the owner has written it
      return true;
    }
    bool taken = false;
    if (front == back) {
      value = slot(back).load(base::relaxed);  // relaxed: the owner has written it
      // relaxed: only decides who takes the value, which the owner itself has written
      taken = front_.compare_exchange_strong(front, front + 1, base::relaxed, base::relaxed);
    }
    back_.store(back + 1, base::relaxed);  // relaxed: nothing is left to be handed over
    return taken;
  }

  /// Takes the oldest value. False: there is none, or another thread has just taken it.
  [[nodiscard]] bool steal(T& value) noexcept {
    if (looks_empty()) return false;
    std::int64_t front = front_.load(base::relaxed);  // relaxed: the compare-exchange decides
    base::heavy_fence();  // seq_cst: the thief's half of the story at the top
    // acquire: pairs with the release in push_backwards(): the value, and what it points to
    if (front >= back_.load(base::acquire)) return false;
    // relaxed: handed over by back_; what was read in vain is not used
    const T oldest = slot(front).load(base::relaxed);
    // release: pairs with the acquire in push_backwards(), which may now write the slot. relaxed:
    // on failure another thread has taken the value
    if (!front_.compare_exchange_strong(front, front + 1, base::release, base::relaxed)) {
      return false;
    }
    value = oldest;
    return true;
  }

  [[nodiscard]] bool looks_empty() const noexcept {
    // relaxed: a front that is out of date only makes it look fuller
    const std::int64_t front = front_.load(base::relaxed);
    // relaxed: ordered by the sleeper's fence; nothing is read on the strength of it
    return front >= back_.load(base::relaxed);
  }

 private:
  base::Atomic<T>& slot(std::int64_t position) noexcept {
    return slots_[static_cast<std::size_t>(position) % kCapacity];
  }

  alignas(base::kFalseSharingBytes) base::Atomic<std::int64_t> front_{0};
  alignas(base::kFalseSharingBytes) base::Atomic<std::int64_t> back_{0};
  std::int64_t front_seen_ = 0;  // the owner's; at most front_
  std::array<base::Atomic<T>, kCapacity> slots_{};
};

}  // namespace taskbench::rt::queue
