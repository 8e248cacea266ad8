// Channels for many messages, from any number of senders to one receiver.
//
//   auto [sender, receiver] = mpsc::channel<int>(16);        // at most 16 messages wait
//   auto [sender, receiver] = mpsc::unbounded_channel<int>();
//
// (Inside a coroutine, with g++ 12, 15 or 16: name the pair instead of binding its parts. With g++
// 12 also give messages a constructor, or create them in an earlier statement: that compiler
// destroys an aggregate created inside a co_await expression twice. See the pitfalls in
// docs/library.md.)
//
// Threads: a sender belongs to one thread at a time, but send() and try_send() of one sender may
// overlap; copies are cheap and independent. The receiver belongs to one task or thread at a time.
// Ends may be used, moved and dropped on any thread, inside and outside of any runtime; only
// awaiting needs a task. An end must outlive the awaits on it. What send() and recv() return is
// awaited by one coroutine at a time, also in branches of one task.
//
// Order: messages of one sender arrive in the order in which its sends ended; a waiting send keeps
// its place in a queue (fair). The invariants are in mpsc_channel.hpp.
//
// Close: once the last sender is dropped, the receiver gets the queued messages, then nullopt.
// Closing or dropping the receiver makes sends fail; dropping it destroys the queued messages.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "runtime/base/assert.hpp"
#include "runtime/base/shared.hpp"
#include "runtime/sync/mpsc_channel.hpp"

namespace taskbench::rt::sync::mpsc {

namespace detail {

template <class T>
struct Message : Link {
  explicit Message(T&& moved) : value(std::move(moved)) {}
  T value;

  static void destroy(Link* link) { delete static_cast<Message*>(link); }

  static std::optional<T> take(Link* link) {
    if (link == nullptr) return std::nullopt;
    const std::unique_ptr<Message> message(static_cast<Message*>(link));
    return std::optional<T>(std::move(message->value));
  }
};

/// The base of both kinds of senders: one sender that the channel counts.
class SenderBase {
 public:
  /// Takes over a sender that the channel has counted.
  explicit SenderBase(base::Ref<Channel> channel) noexcept : channel_(std::move(channel)) {}
  SenderBase(const SenderBase& other) noexcept : channel_(other.channel_) {
    if (channel_ != nullptr) channel_->add_sender();
  }
  SenderBase(SenderBase&& other) noexcept = default;
  SenderBase& operator=(SenderBase other) noexcept {
    std::swap(channel_, other.channel_);
    return *this;
  }
  ~SenderBase() {
    if (channel_ != nullptr) channel_->drop_sender();
  }

  /// Whether the receiver is closed or gone, so that a message would reach nobody.
  [[nodiscard]] bool is_closed() const noexcept { return channel().is_closed(); }

 protected:
  [[nodiscard]] Channel& channel() const noexcept {
    TASKBENCH_ASSERT(channel_ != nullptr, "the sender was moved from");
    return *channel_;
  }

 private:
  base::Ref<Channel> channel_;
};

}  // namespace detail

/// The sender of a bounded channel.
template <class T>
class Sender : public detail::SenderBase {
  using Message = detail::Message<T>;

 public:
  using SenderBase::SenderBase;

  class [[nodiscard]] Sending : public detail::Channel::Send {
   public:
    ~Sending() { Message::destroy(unsent()); }

   private:
    friend class Sender;
    Sending(detail::Channel& channel, Message* message) noexcept : Send(channel, message) {}
  };

  /// co_await waits for room; true: the message is in the channel. False: the receiver is gone, and
  /// so is the message. Cancellation-safe: a send that is given up destroys the message unsent and
  /// takes no room. Throws what moving a T throws.
  [[nodiscard]] Sending send(T value) const {
    return Sending(channel(), new Message(std::move(value)));
  }

  /// Sends without waiting. On `full` the value is left as it was; on `closed` it may be moved
  /// from.
  TrySend try_send(T&& value) const {
    const TrySend reserved = channel().try_reserve();
    if (reserved != TrySend::sent) return reserved;
    Slot slot{&channel()};
    auto message = std::make_unique<Message>(std::move(value));
    slot.channel = nullptr;
    if (!channel().push(message.get())) return TrySend::closed;
    message.release();
    return TrySend::sent;
  }

  /// The number of messages that could be sent at this moment without waiting.
  [[nodiscard]] std::size_t room() const noexcept { return channel().room(); }
  [[nodiscard]] std::size_t capacity() const noexcept { return channel().capacity(); }

 private:
  /// A reserved slot, which is given back if making the message throws.
  struct Slot {
    detail::Channel* channel;
    ~Slot() {
      if (channel != nullptr) channel->give_back_slot();
    }
  };
};

/// The sender of an unbounded channel.
template <class T>
class UnboundedSender : public detail::SenderBase {
 public:
  using SenderBase::SenderBase;

  /// Sends without waiting. False: the receiver is gone, and so is the message.
  bool send(T value) const {
    auto message = std::make_unique<detail::Message<T>>(std::move(value));
    if (!channel().push(message.get())) return false;
    message.release();
    return true;
  }
};

/// The receiver of either kind of channel.
template <class T>
class Receiver {
  using Message = detail::Message<T>;

 public:
  explicit Receiver(base::Ref<detail::Channel> channel) noexcept : channel_(std::move(channel)) {}
  Receiver(Receiver&& other) noexcept = default;
  Receiver& operator=(Receiver&& other) noexcept {
    if (this != &other) {
      drop();
      channel_ = std::move(other.channel_);
    }
    return *this;
  }
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;
  ~Receiver() { drop(); }

  class [[nodiscard]] Receiving : public detail::Channel::Recv {
   public:
    std::optional<T> await_resume() { return Message::take(take()); }

   private:
    friend class Receiver;
    explicit Receiving(detail::Channel& channel) noexcept : Recv(channel) {}
  };

  /// co_await waits for the next message; nullopt: none will come, as all senders are gone or this
  /// end was closed. Cancellation-safe: a receive that is given up takes no message.
  [[nodiscard]] Receiving recv() { return Receiving(channel()); }

  /// The next message, if there is one.
  [[nodiscard]] std::optional<T> try_recv() { return Message::take(channel().try_pop()); }

  /// Whether the channel is empty and no message will come.
  [[nodiscard]] bool is_drained() const noexcept { return channel().is_drained(); }
  /// The number of messages in the channel at this moment.
  [[nodiscard]] std::size_t size() const noexcept { return channel().size(); }

  /// Makes sends fail from now on, waiting ones included. Queued messages can still be received.
  void close() noexcept { channel().close(); }

 private:
  [[nodiscard]] detail::Channel& channel() const noexcept {
    TASKBENCH_ASSERT(channel_ != nullptr, "the receiver was moved from");
    return *channel_;
  }

  void drop() noexcept {
    const base::Ref<detail::Channel> channel = std::exchange(channel_, {});
    if (channel == nullptr) return;
    channel->close();
    for (detail::Link* link = channel->take_all(); link != nullptr;) {
      detail::Link* const next = link->next;
      Message::destroy(link);
      link = next;
    }
  }

  base::Ref<detail::Channel> channel_;
};

/// A new channel for at most `capacity` > 0 waiting messages. Throws std::bad_alloc.
template <class T>
[[nodiscard]] std::pair<Sender<T>, Receiver<T>> channel(std::size_t capacity) {
  TASKBENCH_ASSERT(capacity > 0 && capacity < detail::Channel::kUnbounded,
                   "a bounded channel holds at least one message, and fewer than SIZE_MAX");
  base::Ref shared(new detail::Channel(capacity));
  return {Sender<T>(shared), Receiver<T>(std::move(shared))};
}

/// A new channel without a bound. Throws std::bad_alloc.
template <class T>
[[nodiscard]] std::pair<UnboundedSender<T>, Receiver<T>> unbounded_channel() {
  base::Ref shared(new detail::Channel(detail::Channel::kUnbounded));
  return {UnboundedSender<T>(shared), Receiver<T>(std::move(shared))};
}

}  // namespace taskbench::rt::sync::mpsc
