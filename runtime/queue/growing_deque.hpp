// A run queue that grows: the deque of Chase and Lev, as a queue.
//
// Its owner pushes at the back; the owner and thieves take from the front, one value at a time,
// each by a compare-exchange. A push into a full buffer copies it into one of twice the size.
// Thieves may still be reading the old one, so that goes to Epochs, and every take is pinned.
//
// Threads: push by the owner; take and looks_empty by any, each as a participant of its own.
//
// Invariants
//   D1  front_ and back_ only grow. The values are in [front_, back_).
//   D2  A slot is written by the owner only, and never while front_ <= its position < back_.
//   D3  A replaced buffer is not written any more: its values in [front_, back_) stay.
//
// References: Chase & Lev, "Dynamic circular work-stealing deque" (SPAA 2005); Lê, Pop, Cohen &
// Zappa Nardelli, "Correct and efficient work-stealing for weak memory models" (PPoPP 2013).
// Without a take at the back none of the fences there is needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "runtime/base/cache_line.hpp"
#include "runtime/base/sync_primitives.hpp"
#include "runtime/queue/epochs.hpp"

namespace taskbench::rt::queue {

/// `T` is a small trivially copyable value, in production a pointer to a task.
template <class T>
class GrowingDeque {
  class Buffer;

 public:
  using Domain = Epochs<std::unique_ptr<Buffer>>;

  /// `capacity`: a power of two. `owner`: the owner's number among the participants of `epochs`,
  /// which must outlive this.
  GrowingDeque(std::uint64_t capacity, Domain& epochs, std::size_t owner)
      : epochs_(epochs), owner_(owner), owned_(std::make_unique<Buffer>(capacity)) {
    // relaxed: not shared yet
    buffer_.store(owned_.get(), base::relaxed);
  }
  GrowingDeque(const GrowingDeque&) = delete;
  GrowingDeque& operator=(const GrowingDeque&) = delete;

  void push(T value) {
    const std::uint64_t back = back_.load(base::relaxed);  // relaxed: only the owner moves it
    // acquire: pairs with the release in take_pinned(): the slot has been read (D2)
    const std::uint64_t front = front_.load(base::acquire);
    if (back - front == owned_->capacity()) grow(front, back);
    owned_->put(back, value);
    back_.store(back + 1, base::release);  // release: pairs with the acquire in take_pinned()
  }

  /// Takes the oldest value. False: the deque looks empty, and `value` is as it was.
  [[nodiscard]] bool take(T& value, std::size_t participant) noexcept {
    epochs_.pin(participant);
    const bool taken = take_pinned(value);
    epochs_.unpin(participant);
    return taken;
  }

  [[nodiscard]] bool looks_empty() const noexcept {
    // relaxed: a front that is out of date only makes it look fuller
    const std::uint64_t front = front_.load(base::relaxed);
    // relaxed: ordered by the sleeper's fence; nothing is read on the strength of it
    return front >= back_.load(base::relaxed);
  }

 private:
  class Buffer {
   public:
    explicit Buffer(std::uint64_t capacity)
        : mask_(capacity - 1), slots_(std::make_unique<base::Atomic<T>[]>(capacity)) {}

    [[nodiscard]] std::uint64_t capacity() const noexcept { return mask_ + 1; }
    [[nodiscard]] T get(std::uint64_t position) const noexcept {
      // relaxed: what was read in vain is not used; back_ and front_ hand over the rest
      return slots_[position & mask_].load(base::relaxed);
    }
    void put(std::uint64_t position, T value) noexcept {
      // relaxed: handed over by back_
      slots_[position & mask_].store(value, base::relaxed);
    }

   private:
    const std::uint64_t mask_;
    std::unique_ptr<base::Atomic<T>[]> slots_;
  };

  bool take_pinned(T& value) noexcept {
    // relaxed: a guess; the compare-exchange below decides
    std::uint64_t front = front_.load(base::relaxed);
    for (;;) {
      // acquire: pairs with the release in push(): the value, and the buffer that it is in
      if (front >= back_.load(base::acquire)) return false;
      // acquire: pairs with the release in grow(): the slots that were copied
      const T oldest = buffer_.load(base::acquire)->get(front);
      // release: pairs with the acquire in push(), which may now write the slot. relaxed: on
      // failure another thread has taken the value
      if (front_.compare_exchange_weak(front, front + 1, base::release, base::relaxed)) {
        value = oldest;
        return true;
      }
    }
  }

  void grow(std::uint64_t front, std::uint64_t back) {
    auto larger = std::make_unique<Buffer>(2 * owned_->capacity());
    for (std::uint64_t i = front; i != back; ++i) larger->put(i, owned_->get(i));
    buffer_.store(larger.get(), base::release);  // release: pairs with the acquire in take_pinned()
    std::swap(owned_, larger);
    epochs_.defer(owner_, std::move(larger));
  }

  Domain& epochs_;
  const std::size_t owner_;
  std::unique_ptr<Buffer> owned_;  // what buffer_ points to
  alignas(base::kFalseSharingBytes) base::Atomic<std::uint64_t> front_{0};
  alignas(base::kFalseSharingBytes) base::Atomic<std::uint64_t> back_{0};
  base::Atomic<Buffer*> buffer_{nullptr};
};

}  // namespace taskbench::rt::queue
