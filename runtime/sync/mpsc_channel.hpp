// The part of an mpsc channel that does not depend on the message type.
//
// Threads: the functions of senders from any thread, those of the receiver by one task or thread
// at a time. Send and Recv lie in the frames of the tasks that await them.
//
// A message is a node that its sender allocates and its receiver frees, so that no user code (a
// move constructor, a destructor) ever runs under the mutex, and linking it cannot fail.
//
// A slot of a bounded channel is free (counted in room_), reserved (by a Send that was granted it,
// or by a try_send under way), or taken by a queued message.
//
// Invariants
//   M1  Everything here is guarded by mutex_, except capacity_, which is constant.
//   M2  room_ is greater than zero only while senders_waiting_ is empty: a slot that becomes free
//       goes to the sender that has waited longest.
//   M3  free + reserved + taken slots = capacity_, until the channel is closed.
//   M4  Once closed_ is set no message is linked any more.
//   M5  receiver_ owns a counted reference to the task that waits in Recv. The thread that links a
//       message, drops the last sender or closes the channel takes it out and wakes the task.
//   M6  A message is taken out of the queue only for a receiver that returns it in the same step:
//       a receive that is given up leaves the queue as it was.
//
// Rejected: a lock-free linked list of blocks, as Tokio has (several times the code; take it when a
// profile asks for it); a ring of T for bounded channels (memory for the capacity from the start,
// and moves of T under the mutex).
#pragma once

#include <coroutine>
#include <cstddef>
#include <limits>

#include "runtime/base/shared.hpp"
#include "runtime/base/sync_primitives.hpp"
#include "runtime/sync/try_send.hpp"
#include "runtime/sync/wait_list.hpp"
#include "runtime/task/leaf.hpp"

namespace taskbench::rt::sync::mpsc {

using sync::TrySend;

namespace detail {

/// The link of a message; the typed message derives from it.
struct Link {
  Link* next = nullptr;
};

class Channel : public base::Shared {
 public:
  static constexpr std::size_t kUnbounded = std::numeric_limits<std::size_t>::max();

  class Send;
  class Recv;

  explicit Channel(std::size_t capacity) noexcept : capacity_(capacity), room_(capacity) {}
  ~Channel();

  // For senders.
  void add_sender() noexcept;
  void drop_sender() noexcept;
  /// Reserves a slot. `sent` stands for success.
  [[nodiscard]] TrySend try_reserve() noexcept;
  void give_back_slot() noexcept;
  /// Links a message into a slot that the caller has reserved; an unbounded channel needs none.
  /// False: the channel is closed, and the message is still the caller's.
  [[nodiscard]] bool push(Link* message) noexcept;
  [[nodiscard]] bool is_closed() const noexcept;
  /// The number of free slots at this moment.
  [[nodiscard]] std::size_t room() const noexcept;
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

  // For the receiver.
  /// The oldest message, or nullptr.
  [[nodiscard]] Link* try_pop() noexcept;
  /// Whether the channel is empty and no message will come.
  [[nodiscard]] bool is_drained() const noexcept;
  [[nodiscard]] std::size_t size() const noexcept;
  /// Refuses messages from now on; waiting sends fail, and a receive in another branch of the
  /// receiver's task ends.
  void close() noexcept;
  /// All messages, linked, in order; for the end of the receiver, after close().
  [[nodiscard]] Link* take_all() noexcept;

 private:
  // The caller wakes the task that these return, once the mutex is released.
  [[nodiscard]] task::Header* link(Link* message) noexcept TASKBENCH_REQUIRES(mutex_);
  [[nodiscard]] Link* unlink_first(task::Header*& sender) noexcept TASKBENCH_REQUIRES(mutex_);
  [[nodiscard]] task::Header* free_slot() noexcept TASKBENCH_REQUIRES(mutex_);
  [[nodiscard]] bool drained() const noexcept TASKBENCH_REQUIRES(mutex_) {
    return first_ == nullptr && (closed_ || sender_count_ == 0);
  }

  const std::size_t capacity_;
  mutable base::Mutex mutex_;
  std::size_t room_ TASKBENCH_GUARDED_BY(mutex_);
  std::size_t size_ TASKBENCH_GUARDED_BY(mutex_) = 0;
  std::size_t sender_count_ TASKBENCH_GUARDED_BY(mutex_) = 1;
  bool closed_ TASKBENCH_GUARDED_BY(mutex_) = false;
  Link* first_ TASKBENCH_GUARDED_BY(mutex_) = nullptr;
  Link* last_ TASKBENCH_GUARDED_BY(mutex_) = nullptr;
  /// The waiting receive, until it has seen why it was woken.
  const Recv* receiving_ TASKBENCH_GUARDED_BY(mutex_) = nullptr;
  /// The task of `receiving_`, until it is woken.
  task::Header* receiver_ TASKBENCH_GUARDED_BY(mutex_) = nullptr;
  sync::detail::WaitList senders_waiting_ TASKBENCH_GUARDED_BY(mutex_);
};

/// Waits for a slot, then links the message in the same step: once a sender has the slot, nothing
/// can come between. A slot granted to a Send that is given up goes to the next one.
class Channel::Send : private task::Leaf, private sync::detail::Waiter {
 public:
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> coroutine) {
    return task::suspend_with_budget(*this, coroutine);
  }
  /// Returns false if the channel is closed and the message was not sent.
  bool await_resume() const noexcept { return message_ == nullptr; }

 protected:
  Send(Channel& channel, Link* message) noexcept
      : Leaf(&Send::poll_slot), channel_(channel), message_(message) {}
  ~Send() {
    if (waits_) give_up();
  }
  Send(const Send&) = delete;
  Send& operator=(const Send&) = delete;

  /// The message, for the typed awaiter to destroy; null once the channel has it.
  [[nodiscard]] Link* unsent() const noexcept { return message_; }

 private:
  static bool poll_slot(task::Leaf* leaf, task::Header* task) noexcept;
  void give_up() noexcept;

  Channel& channel_;
  Link* message_;
  bool waits_ = false;  // was queued, and has not seen the outcome; its own task only
};

/// Waits for a message or the end of the channel.
class Channel::Recv : private task::Leaf {
 public:
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> coroutine) {
    return task::suspend_with_budget(*this, coroutine);
  }

 protected:
  explicit Recv(Channel& channel) noexcept : Leaf(&Recv::poll_message), channel_(channel) {}
  ~Recv() {
    if (waits_) give_up();
  }
  Recv(const Recv&) = delete;
  Recv& operator=(const Recv&) = delete;

  /// The message that ended the wait, or null; now the caller's.
  [[nodiscard]] Link* take() noexcept {
    Link* const message = message_;
    message_ = nullptr;
    return message;
  }

 private:
  static bool poll_message(task::Leaf* leaf, task::Header* task) noexcept;
  void give_up() noexcept;

  Channel& channel_;
  Link* message_ = nullptr;
  bool waits_ = false;  // is the one in Channel::receiving_
};

}  // namespace detail
}  // namespace taskbench::rt::sync::mpsc
