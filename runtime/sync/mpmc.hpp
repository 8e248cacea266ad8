// Channels for many messages, from any number of senders to any number of receivers; each message
// goes to one of them.
//
//   auto [sender, receiver] = mpmc::channel<int>(16);        // at most 16 messages wait
//
// (Inside a coroutine, with g++ 12, 15 or 16: name the pair instead of binding its parts. With g++
// 12 also give messages a constructor, or create them in an earlier statement: that compiler
// destroys an aggregate created inside a co_await expression twice. See the pitfalls in
// docs/library.md.)
//
// Moving a message must not throw, so that none is lost halfway; send a type whose move may throw
// as a std::unique_ptr.
//
// Threads: copies of an end are cheap and independent. Several threads may call the const functions
// of one end at once. Ends may be used, copied, moved and dropped on any thread, inside and outside
// of any runtime; only awaiting needs a task. An end must outlive the awaits on it. What send() and
// recv() return is awaited by one coroutine at a time, also in branches of one task.
//
// Order: messages are received in the order in which they were put in; for one sender, that is the
// order of its sends. Waiters are woken in the order of their arrival, and none starves;
// mpmc_channel.hpp has the exact rule and the invariants.
//
// Close: close() at either end, or dropping the last sender or the last receiver, makes sends fail.
// Messages in the channel can still be received, then receivers get nullopt; dropping the last
// receiver destroys them.
#pragma once

#include <coroutine>
#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "runtime/base/assert.hpp"
#include "runtime/base/shared.hpp"
#include "runtime/sync/mpmc_channel.hpp"
#include "runtime/sync/try_send.hpp"
#include "runtime/task/leaf.hpp"

namespace taskbench::rt::sync::mpmc {

using sync::TrySend;

namespace detail {

template <class T>
struct Slot : SlotHead {
  Slot() noexcept {}
  ~Slot() {}

  union {
    T message;
  };
};

/// Owns the slots; a base of Ring, so that they are constructed before Channel.
template <class T>
struct Slots {
  const std::unique_ptr<Slot<T>[]> slots;
};

template <class T>
class Ring final : private Slots<T>, public Channel {
  static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                "messages must be movable and destructible without throwing (noexcept); send a "
                "std::unique_ptr of what is not");

 public:
  explicit Ring(std::size_t capacity)
      : Slots<T>{std::make_unique<Slot<T>[]>(capacity)},
        Channel(capacity, Slots<T>::slots.get(), sizeof(Slot<T>)) {}
  ~Ring() { destroy_messages(); }

  /// Fills a slot that was claimed for sending.
  void put(Position position, T&& value) noexcept {
    std::construct_at(&message_at(position), std::move(value));
    publish(position);
  }
  /// Empties a slot that was claimed for receiving.
  void take(Position position, std::optional<T>& into) noexcept {
    T& message = message_at(position);
    into.emplace(std::move(message));
    std::destroy_at(&message);
    free(position);
  }

  void drop_sender() noexcept { static_cast<void>(drop_end(Side::send)); }
  void drop_receiver() noexcept {
    if (drop_end(Side::receive)) destroy_messages();
  }

 private:
  [[nodiscard]] T& message_at(Position position) noexcept {
    return static_cast<Slot<T>&>(slot_of(position)).message;
  }
  void destroy_messages() noexcept {
    Position position = 0;
    // No sender uses the slots any more.
    while (try_claim(Side::receive, position) == Claim::claimed) {
      std::destroy_at(&message_at(position));
    }
  }
};

/// The base of both kinds of ends: one end that the channel counts.
template <class T, Channel::Side side>
class End {
 public:
  /// Takes over an end that the channel has counted.
  explicit End(base::Ref<Ring<T>> ring) noexcept : ring_(std::move(ring)) {}
  End(const End& other) noexcept : ring_(other.ring_) {
    if (ring_ != nullptr) ring_->add_end(side);
  }
  End(End&& other) noexcept = default;
  End& operator=(End other) noexcept {
    std::swap(ring_, other.ring_);
    return *this;
  }
  ~End() {
    if (ring_ == nullptr) return;
    if constexpr (side == Channel::Side::send) {
      ring_->drop_sender();
    } else {
      ring_->drop_receiver();
    }
  }

  /// Makes sends fail from now on, waiting ones included. Messages in the channel can still be
  /// received.
  void close() const noexcept { ring().close(); }
  [[nodiscard]] bool is_closed() const noexcept { return ring().is_closed(); }
  /// The number of messages in the channel at this moment.
  [[nodiscard]] std::size_t size() const noexcept { return ring().size(); }
  [[nodiscard]] std::size_t capacity() const noexcept { return ring().capacity(); }

 protected:
  [[nodiscard]] Ring<T>& ring() const noexcept {
    TASKBENCH_ASSERT(ring_ != nullptr, "the end of the channel was moved from");
    return *ring_;
  }

 private:
  base::Ref<Ring<T>> ring_;
};

/// The base of the awaiters: waits for a slot of its side.
template <class T, Channel::Side side>
class Await : private task::Leaf {
 public:
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> coroutine) {
    return task::suspend_with_budget(*this, coroutine);
  }

 protected:
  explicit Await(Ring<T>& ring) noexcept
      : Leaf(&Await::poll_slot), ring_(ring), wait_(ring, side) {}
  Await(Ring<T>& ring, T&& message) noexcept : Await(ring) { message_.emplace(std::move(message)); }

  std::optional<T> message_;  // until it is sent; once it is received

 private:
  static bool poll_slot(task::Leaf* leaf, task::Header* task) noexcept {
    Await& self = *static_cast<Await*>(leaf);
    // A message that is in the channel is not sent once more by another await.
    if (side == Channel::Side::send && !self.message_) return true;
    Position position = 0;
    Claim result = Claim::none;
    if (!self.wait_.is_waiting()) result = self.ring_.try_claim(side, position);
    if (result == Claim::none) result = self.wait_.claim_or_queue(task, position);
    if (result == Claim::claimed) self.use(position);
    // What an earlier await has received comes once.
    if (side == Channel::Side::receive && result == Claim::ended) self.message_.reset();
    return result != Claim::none;
  }

  void use(Position position) noexcept {
    if constexpr (side == Channel::Side::send) {
      ring_.put(position, std::move(*message_));
      message_.reset();
    } else {
      ring_.take(position, message_);
    }
  }

  Ring<T>& ring_;
  Channel::Wait wait_;
};

}  // namespace detail

template <class T>
class Sender : public detail::End<T, detail::Channel::Side::send> {
 public:
  using Sender::End::End;

  class [[nodiscard]] Sending : public detail::Await<T, detail::Channel::Side::send> {
   public:
    bool await_resume() const noexcept { return !this->message_; }

   private:
    friend class Sender;
    using detail::Await<T, detail::Channel::Side::send>::Await;
  };

  /// co_await waits for room; true: the message is in the channel. False: the channel is closed,
  /// and the message is gone. Cancellation-safe: a send that is given up destroys the message
  /// unsent and takes no room.
  [[nodiscard]] Sending send(T value) const noexcept {
    return Sending(this->ring(), std::move(value));
  }

  /// Sends without waiting; unless the result is `sent`, the value is left as it was. `full` also
  /// if other senders wait for room and come first.
  [[nodiscard]] TrySend try_send(T&& value) const noexcept {
    detail::Position position = 0;
    switch (this->ring().try_claim(detail::Channel::Side::send, position)) {
      case detail::Claim::claimed:
        this->ring().put(position, std::move(value));
        return TrySend::sent;
      case detail::Claim::none:
        return TrySend::full;
      case detail::Claim::ended:
        break;
    }
    return TrySend::closed;
  }
};

template <class T>
class Receiver : public detail::End<T, detail::Channel::Side::receive> {
 public:
  using Receiver::End::End;

  class [[nodiscard]] Receiving : public detail::Await<T, detail::Channel::Side::receive> {
   public:
    std::optional<T> await_resume() noexcept { return std::move(this->message_); }

   private:
    friend class Receiver;
    using detail::Await<T, detail::Channel::Side::receive>::Await;
  };

  /// co_await waits for the next message; nullopt: none will come, as the channel is closed and
  /// empty. Cancellation-safe: a receive that is given up takes no message.
  [[nodiscard]] Receiving recv() const noexcept { return Receiving(this->ring()); }

  /// The next message, if there is one; nullopt also if other receivers wait and come first.
  [[nodiscard]] std::optional<T> try_recv() const noexcept {
    detail::Position position = 0;
    std::optional<T> message;
    const detail::Claim claim = this->ring().try_claim(detail::Channel::Side::receive, position);
    if (claim == detail::Claim::claimed) this->ring().take(position, message);
    return message;
  }

  /// Whether the channel is empty and no message will come.
  [[nodiscard]] bool is_drained() const noexcept { return this->ring().is_drained(); }
};

/// A new channel for at most `capacity` waiting messages, from 1 to 2^31, whose memory is allocated
/// at once. Throws std::bad_alloc.
template <class T>
[[nodiscard]] std::pair<Sender<T>, Receiver<T>> channel(std::size_t capacity) {
  TASKBENCH_ASSERT(capacity > 0 && capacity <= detail::Channel::kMaxCapacity,
                   "a bounded channel holds at least one message, and at most 2^31");
  base::Ref ring(new detail::Ring<T>(capacity));
  return {Sender<T>(ring), Receiver<T>(std::move(ring))};
}

}  // namespace taskbench::rt::sync::mpmc
