// A channel for one value: one sender, one receiver, one wait.
//
// Threads: each end belongs to one thread at a time; the two ends may be on different threads.
//
// The whole protocol is in one word of the shared cell:
//   by the receiver:  empty -> waiting (a task's header);  empty, waiting -> receiver_gone
//   by the sender:    empty, waiting -> sent | sender_gone
// Each end makes one exchange; the end that finds the other gone, or the value there, frees the
// cell. After its exchange an end never touches the cell again unless it is the one to free it. The
// waiting task comes out of the word itself, so the sender reads nothing from a cell that the
// receiver may free.
//
// Invariants
//   O1  The word holds a header exactly while a counted reference to that task belongs to it.
//   O2  The value is written before `sent` and read after it.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "runtime/base/assert.hpp"
#include "runtime/base/cache_line.hpp"
#include "runtime/base/sync_primitives.hpp"
#include "runtime/task/frame_cache.hpp"
#include "runtime/task/leaf.hpp"

namespace taskbench::rt::sync::oneshot {

/// For channels that only signal.
struct Unit {};

namespace detail {

template <class T>
class Cell {
 public:
  // Small numbers; every other value is a header's address.
  static constexpr std::uintptr_t kEmpty = 0;
  static constexpr std::uintptr_t kSent = 1;
  static constexpr std::uintptr_t kSenderGone = 2;
  static constexpr std::uintptr_t kReceiverGone = 3;

  static Cell* create() {
    static_assert(alignof(Cell) <= base::kCacheLineBytes);
    return new (task::allocate_block(kUnits)) Cell;
  }
  void free() noexcept { task::deallocate_block(this, kUnits); }

  static task::Header* waiter(std::uintptr_t word) noexcept {
    return word > kReceiverGone ? reinterpret_cast<task::Header*>(word) : nullptr;
  }

  T* value() noexcept { return std::launder(reinterpret_cast<T*>(storage)); }

  base::Atomic<std::uintptr_t> word{kEmpty};
  alignas(T) std::byte storage[sizeof(T)];

 private:
  Cell() = default;
  static constexpr std::uint32_t kUnits =
      sizeof(std::uintptr_t) + sizeof(T) + alignof(T) <= 2 * base::kCacheLineBytes
          ? 2
          : static_cast<std::uint32_t>(
                (sizeof(std::uintptr_t) + sizeof(T) + alignof(T) + base::kCacheLineBytes - 1) /
                base::kCacheLineBytes);
};

}  // namespace detail

template <class T>
class Sender {
 public:
  explicit Sender(detail::Cell<T>* cell) noexcept : cell_(cell) {}
  Sender(Sender&& other) noexcept : cell_(std::exchange(other.cell_, nullptr)) {}
  Sender& operator=(Sender&& other) noexcept {
    if (this != &other) {
      close();
      cell_ = std::exchange(other.cell_, nullptr);
    }
    return *this;
  }
  ~Sender() { close(); }

  /// Hands `value` over and wakes the receiver. False: the receiver is gone, and so is the value.
  /// Once only.
  bool send(T value) {
    using Cell = detail::Cell<T>;
    TASKBENCH_ASSERT(cell_ != nullptr,
                     "a oneshot sends once, and not from a Sender that was moved from");
    std::construct_at(cell_->value(), std::move(value));
    Cell* const cell = std::exchange(cell_, nullptr);
    // acq_rel: pairs with the receiver's acquire (O2), and with the release that left its waker
    const std::uintptr_t before = cell->word.exchange(Cell::kSent, base::acq_rel);
    if (before == Cell::kReceiverGone) {
      std::destroy_at(cell->value());
      cell->free();
      return false;
    }
    if (task::Header* waiter = Cell::waiter(before)) task::wake(waiter);
    return true;
  }

  /// Whether the receiver is gone, so that a value would reach nobody.
  [[nodiscard]] bool is_closed() const noexcept {
    using Cell = detail::Cell<T>;
    // relaxed: only a hint, no data comes with it
    return cell_ == nullptr || cell_->word.load(base::relaxed) == Cell::kReceiverGone;
  }

 private:
  void close() noexcept {
    using Cell = detail::Cell<T>;
    Cell* const cell = std::exchange(cell_, nullptr);
    if (cell == nullptr) return;
    // acq_rel: pairs with the receiver's exchange: one of the two frees the cell
    const std::uintptr_t before = cell->word.exchange(Cell::kSenderGone, base::acq_rel);
    if (before == Cell::kReceiverGone) {
      cell->free();
    } else if (task::Header* waiter = Cell::waiter(before)) {
      task::wake(waiter);
    }
  }

  detail::Cell<T>* cell_;
};

template <class T>
class Receiver {
  using Cell = detail::Cell<T>;

 public:
  explicit Receiver(Cell* cell) noexcept : cell_(cell) {}
  Receiver(Receiver&& other) noexcept : cell_(std::exchange(other.cell_, nullptr)) {}
  Receiver& operator=(Receiver&& other) noexcept {
    if (this != &other) {
      close();
      cell_ = std::exchange(other.cell_, nullptr);
    }
    return *this;
  }
  ~Receiver() { close(); }

  class Awaiter : private task::Leaf {
   public:
    explicit Awaiter(Receiver& receiver) noexcept
        : Leaf(&Awaiter::poll_word), receiver_(receiver) {}
    bool await_ready() const noexcept {
      // Here and not in the constructor: an awaiter may be kept until another has ended.
      TASKBENCH_ASSERT(receiver_.cell_ != nullptr,
                       "a oneshot receives once, and not from a Receiver that was moved from");
      return receiver_.is_decided();
    }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> coroutine) {
      return task::suspend_on(*this, coroutine);
    }
    std::optional<T> await_resume() { return receiver_.take(); }

   private:
    static bool poll_word(task::Leaf* leaf, task::Header* waiter) {
      Receiver& receiver = static_cast<Awaiter*>(leaf)->receiver_;
      TASKBENCH_ASSERT(
          receiver.cell_ != nullptr,
          "a oneshot Receiver is awaited by one branch of a task, and not moved meanwhile");
      return receiver.register_waiter(waiter);
    }
    Receiver& receiver_;
  };

  /// Waits for the value; nullopt if the sender was dropped without sending. Cancellation-safe: an
  /// await that is given up leaves the receiver as it was. Once only; of two tasks that await it,
  /// only the later one is woken.
  Awaiter operator co_await() & noexcept { return Awaiter(*this); }
  Awaiter operator co_await() && noexcept { return Awaiter(*this); }

 private:
  [[nodiscard]] bool is_decided() const noexcept {
    // acquire: pairs with the release half of the sender's exchange (O2)
    const std::uintptr_t word = cell_->word.load(base::acquire);
    return word == Cell::kSent || word == Cell::kSenderGone;
  }

  /// True: decided. False: the waiter, which is the task being polled, will be woken.
  bool register_waiter(task::Header* waiter) noexcept {
    // acquire: pairs with the release half of the sender's exchange (O2)
    std::uintptr_t seen = cell_->word.load(base::acquire);
    const auto wanted = reinterpret_cast<std::uintptr_t>(waiter);
    if (seen == Cell::kSent || seen == Cell::kSenderGone) return true;
    if (seen == wanted) return false;
    task::reference_in_poll(waiter);
    // release: pairs with the sender's exchange, which then wakes the waiter;
    // acquire: pairs with that exchange (O2) on failure. Only the sender can change the word
    // meanwhile.
    if (!cell_->word.compare_exchange_strong(seen, wanted, base::release, base::acquire)) {
      task::drop_reference(waiter);
      return true;
    }
    // The receiver had waited in another task before.
    if (task::Header* previous = Cell::waiter(seen)) task::drop_reference(previous);
    return false;
  }

  std::optional<T> take() {
    // Frees the cell even when moving the value out throws. The sender's exchange was its last
    // touch.
    struct End {
      ~End() {
        if (has_value) std::destroy_at(cell->value());
        cell->free();
      }
      Cell* cell;
      bool has_value;
    };
    Cell* const cell = std::exchange(cell_, nullptr);
    // relaxed: is_decided or register_waiter has acquired this value
    const End end{cell, cell->word.load(base::relaxed) == Cell::kSent};
    std::optional<T> result;
    if (end.has_value) result.emplace(std::move(*cell->value()));
    return result;
  }

  void close() noexcept {
    Cell* const cell = std::exchange(cell_, nullptr);
    if (cell == nullptr) return;
    // acq_rel: pairs with the sender's exchange: one of the two frees the cell
    const std::uintptr_t before = cell->word.exchange(Cell::kReceiverGone, base::acq_rel);
    if (before == Cell::kSent) std::destroy_at(cell->value());
    if (before == Cell::kSent || before == Cell::kSenderGone) {
      cell->free();
    } else if (task::Header* waiter = Cell::waiter(before)) {
      task::drop_reference(waiter);
    }
  }

  Cell* cell_;
};

/// A new channel. Throws std::bad_alloc.
template <class T>
[[nodiscard]] std::pair<Sender<T>, Receiver<T>> channel() {
  auto* cell = detail::Cell<T>::create();
  return {Sender<T>(cell), Receiver<T>(cell)};
}

}  // namespace taskbench::rt::sync::oneshot
