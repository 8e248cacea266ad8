// A ring of eight slots, which one thread fills and another empties, without a lock. It names the
// types of `shared`, which are those of the standard, or in a model those of the tester.
#pragma once

#include <cstddef>

#if defined(RING_IN_A_MODEL)
#include <taskbench/model/primitives.hpp>

namespace shared {
using mc::acquire, mc::relaxed, mc::release;
template <class T>
using Atomic = mc::Atomic<T>;
template <class T>
using Cell = mc::Cell<T>;
}  // namespace shared
#else
#include <atomic>

namespace shared {
inline constexpr std::memory_order acquire = std::memory_order_acquire;
inline constexpr std::memory_order relaxed = std::memory_order_relaxed;
inline constexpr std::memory_order release = std::memory_order_release;
template <class T>
using Atomic = std::atomic<T>;

/// Plain memory. The tester's knows who uses it, and finds two threads that do so at once.
template <class T>
class Cell {
 public:
  T get() const { return value_; }
  void set(T value) { value_ = value; }

 private:
  T value_{};
};
}  // namespace shared
#endif

template <class T, std::size_t kSlots = 8>
class Ring {
 public:
  /// False: the ring is full. By one thread.
  bool push(T value) {
    const std::size_t tail = tail_.load(shared::relaxed);  // this thread alone stores it
#if defined(PLANTED_BUG)
    const std::size_t head = head_.load(shared::relaxed);
#else
    // Pairs with the release in pop(): the slot has been read before it is written again.
    const std::size_t head = head_.load(shared::acquire);
#endif
    if (tail - head == kSlots) return false;
    slots_[tail % kSlots].set(value);
    tail_.store(tail + 1, shared::release);
    return true;
  }

  /// False: the ring is empty. By one thread.
  bool pop(T& value) {
    const std::size_t head = head_.load(shared::relaxed);  // this thread alone stores it
    // Pairs with the release in push(): the slot has been written before it is read.
    if (head == tail_.load(shared::acquire)) return false;
    value = slots_[head % kSlots].get();
    head_.store(head + 1, shared::release);
    return true;
  }

 private:
  shared::Atomic<std::size_t> head_{0};
  shared::Atomic<std::size_t> tail_{0};
  shared::Cell<T> slots_[kSlots];
};
