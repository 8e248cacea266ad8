#include "runtime/sync/mpsc_channel.hpp"

#include <utility>

#include "runtime/base/assert.hpp"

namespace taskbench::rt::sync::mpsc::detail {

using Place = sync::detail::Waiter::Place;
using sync::detail::WaitList;
using sync::detail::WakeBatch;

Channel::~Channel() {
  TASKBENCH_ASSERT(first_ == nullptr, "the receiver has freed the messages");
  TASKBENCH_ASSERT(receiving_ == nullptr, "a receiver must outlive the task that waits on it");
}

/// Appends a message. Returns the receiver's task to be woken (M5), or nullptr.
task::Header* Channel::link(Link* message) noexcept {
  message->next = nullptr;
  (last_ == nullptr ? first_ : last_->next) = message;
  last_ = message;
  ++size_;
  return std::exchange(receiver_, nullptr);
}

/// Takes out the first message; nullptr: there is none. `sender`: the task that got the slot.
Link* Channel::unlink_first(task::Header*& sender) noexcept {
  Link* const message = first_;
  if (message == nullptr) return nullptr;
  first_ = message->next;
  if (first_ == nullptr) last_ = nullptr;
  --size_;
  if (capacity_ != kUnbounded) sender = free_slot();
  return message;
}

/// M2: hands a slot to the next sender, or counts it as free.
task::Header* Channel::free_slot() noexcept {
  if (!senders_waiting_.empty()) return senders_waiting_.grant_front();
  ++room_;
  return nullptr;
}

void Channel::add_sender() noexcept {
  base::LockGuard lock(mutex_);
  ++sender_count_;
}

void Channel::drop_sender() noexcept {
  WakeBatch batch;
  {
    base::LockGuard lock(mutex_);
    if (--sender_count_ == 0) batch.add(std::exchange(receiver_, nullptr));
  }
  batch.wake_all();
}

TrySend Channel::try_reserve() noexcept {
  base::LockGuard lock(mutex_);
  if (closed_) return TrySend::closed;
  if (room_ == 0) return TrySend::full;
  --room_;
  return TrySend::sent;
}

void Channel::give_back_slot() noexcept {
  WakeBatch batch;
  {
    base::LockGuard lock(mutex_);
    batch.add(free_slot());
  }
  batch.wake_all();
}

bool Channel::push(Link* message) noexcept {
  WakeBatch batch;
  {
    base::LockGuard lock(mutex_);
    if (closed_) return false;
    batch.add(link(message));
  }
  batch.wake_all();
  return true;
}

bool Channel::is_closed() const noexcept {
  base::LockGuard lock(mutex_);
  return closed_;
}

std::size_t Channel::room() const noexcept {
  base::LockGuard lock(mutex_);
  return room_;
}

Link* Channel::try_pop() noexcept {
  WakeBatch batch;
  Link* message = nullptr;
  {
    base::LockGuard lock(mutex_);
    task::Header* sender = nullptr;
    message = unlink_first(sender);
    batch.add(sender);
  }
  batch.wake_all();
  return message;
}

bool Channel::is_drained() const noexcept {
  base::LockGuard lock(mutex_);
  return drained();
}

std::size_t Channel::size() const noexcept {
  base::LockGuard lock(mutex_);
  return size_;
}

void Channel::close() noexcept {
  WakeBatch batch;
  bool more = false;
  do {
    {
      base::LockGuard lock(mutex_);
      closed_ = true;
      batch.add(std::exchange(receiver_, nullptr));
      while (!senders_waiting_.empty() && !batch.full()) {
        batch.add(senders_waiting_.dismiss_front());
      }
      more = !senders_waiting_.empty();
    }
    batch.wake_all();
  } while (more);
}

Link* Channel::take_all() noexcept {
  base::LockGuard lock(mutex_);
  TASKBENCH_ASSERT(closed_, "messages could still come");
  return std::exchange(first_, nullptr);
}

bool Channel::Send::poll_slot(task::Leaf* leaf, task::Header* task) noexcept {
  Send& self = *static_cast<Send*>(leaf);
  Channel& channel = self.channel_;
  sync::detail::Dropped dropped;
  WakeBatch batch;
  {
    base::LockGuard lock(channel.mutex_);
    if (self.place() == Place::queued) {
      dropped.set(WaitList::pass_to(self, task));
      return false;
    }
    if (self.place() == Place::outside && !channel.closed_) {
      if (channel.room_ == 0) {
        channel.senders_waiting_.push_back(self, task);
        self.waits_ = true;
        return false;
      }
      --channel.room_;
      self.settle(Place::granted);
    }
    self.waits_ = false;
    // A slot that was granted before the channel was closed is of no use any more (M4).
    if (self.place() == Place::granted && !channel.closed_) {
      batch.add(channel.link(std::exchange(self.message_, nullptr)));
    }
    self.settle(Place::dismissed);
  }
  batch.wake_all();
  return true;
}

void Channel::Send::give_up() noexcept {
  task::Header* own = nullptr;
  WakeBatch batch;
  {
    base::LockGuard lock(channel_.mutex_);
    if (place() == Place::queued) own = WaitList::withdraw(*this);
    if (place() == Place::granted) batch.add(channel_.free_slot());
  }
  if (own != nullptr) task::drop_reference(own);
  batch.wake_all();
}

bool Channel::Recv::poll_message(task::Leaf* leaf, task::Header* task) noexcept {
  Recv& self = *static_cast<Recv*>(leaf);
  Channel& channel = self.channel_;
  WakeBatch batch;
  {
    base::LockGuard lock(channel.mutex_);
    TASKBENCH_ASSERT(channel.receiving_ == (self.waits_ ? &self : nullptr),
                     "one receive at a time waits for a channel, also in branches of one task");
    task::Header* sender = nullptr;
    self.message_ = channel.unlink_first(sender);
    batch.add(sender);
    if (self.message_ == nullptr && !channel.drained()) {
      if (channel.receiver_ == nullptr) channel.receiver_ = task::reference_in_poll(task);
      TASKBENCH_ASSERT(channel.receiver_ == task, "a receive goes on in the task that began it");
      channel.receiving_ = &self;
      self.waits_ = true;
      return false;
    }
    TASKBENCH_ASSERT(channel.receiver_ == nullptr, "whoever ended the wait has taken it out (M5)");
    if (std::exchange(self.waits_, false)) channel.receiving_ = nullptr;
  }
  batch.wake_all();
  return true;
}

void Channel::Recv::give_up() noexcept {
  task::Header* own = nullptr;
  {
    base::LockGuard lock(channel_.mutex_);
    channel_.receiving_ = nullptr;
    own = std::exchange(channel_.receiver_, nullptr);
  }
  if (own != nullptr) task::drop_reference(own);
}

}  // namespace taskbench::rt::sync::mpsc::detail
