#include "runtime/sync/mpmc_channel.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace taskbench::rt::sync::mpmc::detail {

using Place = sync::detail::Waiter::Place;
using sync::detail::WaitList;
using sync::detail::WakeBatch;

Channel::Channel(std::size_t capacity, SlotHead* slots, std::size_t slot_bytes) noexcept
    : capacity_(capacity),
      lap_(std::bit_ceil(capacity + 1)),
      slots_(slots),
      slot_bytes_(slot_bytes) {
  // relaxed: no other thread knows the channel yet
  for (Position i = 0; i < capacity; ++i) slot_of(i).turn.store(i, base::relaxed);
}

bool Channel::is_drained() const noexcept {
  // acquire: pairs with the release in close(): what the senders did before it
  const Position tail = tail_.load(base::acquire);
  // relaxed: it stops at a tail that is closed
  return (tail & kClosed) != 0 && head_.load(base::relaxed) == (tail & ~kClosed);
}

std::size_t Channel::size() const noexcept {
  const Position head = head_.load(base::relaxed);             // relaxed: of this moment
  const Position tail = tail_.load(base::relaxed) & ~kClosed;  // relaxed: of this moment
  const auto messages = [this](Position position) {
    return position / lap_ * capacity_ + index_of(position);
  };
  // Senders and receivers that come between the two loads make the number seem larger.
  return messages(tail) < messages(head)
             ? 0
             : std::min<std::size_t>(messages(tail) - messages(head), capacity_);
}

bool Channel::can_go_on(Side side) noexcept {
  // relaxed: the fence in changed(), or the mutex that the caller holds, orders both loads; if one
  // is too old, the thread that has changed the word looks after this
  const Position position = next_of(side).load(base::relaxed);
  if ((position & kClosed) != 0 || (side == Side::receive && is_drained())) return true;
  return slot_of(position).turn.load(base::relaxed) == turn_at(side, position);
}

/// Sets attention_ according to the lists.
void Channel::set_attention() noexcept {
  std::uint32_t bits = 0;
  for (const Side side : {Side::send, Side::receive}) {
    const Waiters& waiters = waiters_[index(side)];
    if (!waiters.list.empty()) bits |= kWaits << shift(side);
    if (waiters.first != 0) bits |= kFirst << shift(side);
  }
  attention_.store(bits, base::relaxed);  // relaxed: a thread that queues fences afterwards
}

void Channel::wake_who_can_go_on() noexcept {
  WakeBatch batch;
  {
    base::LockGuard lock(mutex_);
    for (const Side side : {Side::send, Side::receive}) {
      WaitList& list = waiters_[index(side)].list;
      if (!list.empty() && can_go_on(side)) batch.add(list.grant_front());
    }
    set_attention();
  }
  batch.wake_all();
}

void Channel::close() noexcept {
  // release: pairs with the acquires in is_closed() and is_drained(): what came before
  tail_.fetch_or(kClosed, base::release);
  wake_who_can_go_on();
}

bool Channel::drop_end(Side side) noexcept {
  // acq_rel: pairs with itself: what each end of the side did comes before the last one closes
  if (ends_[index(side)].fetch_sub(1, base::acq_rel) != 1) return false;
  close();
  return true;
}

/// Ends the wait.
void Channel::Wait::leave() noexcept {
  is_waiting_ = false;
  in_vain_ = 0;
  if (std::exchange(is_first_, false)) --waiters().first;
  channel_.set_attention();
}

Claim Channel::Wait::claim_or_queue(task::Header* task, Position& claimed) noexcept {
  sync::detail::Dropped dropped;
  Claim result = Claim::none;
  {
    base::LockGuard lock(channel_.mutex_);
    if (place() == Place::queued) {
      dropped.set(WaitList::pass_to(*this, task));
      return Claim::none;
    }
    if (is_waiting_) {
      result = channel_.claim(side_, claimed);
      if (result == Claim::none) {
        if (++in_vain_ == base::patience(kPatience)) {
          is_first_ = true;
          ++waiters().first;
        }
        waiters().list.push_front(*this, task);
      }
    } else {
      waiters().list.push_back(*this, task);
      is_waiting_ = true;
    }
    if (result == Claim::none) {
      channel_.set_attention();
      base::full_fence();  // seq_cst: the waiter's half of the story at the top
      if (waiters().first == 0 || is_first_) result = channel_.claim(side_, claimed);
      if (result == Claim::none) return Claim::none;
      dropped.set(WaitList::withdraw(*this));
    }
    leave();
  }
  // Each waiter passes the news of the end on to the next.
  if (result == Claim::ended) channel_.changed();
  return result;
}

void Channel::Wait::give_up() noexcept {
  task::Header* own = nullptr;
  {
    base::LockGuard lock(channel_.mutex_);
    if (place() == Place::queued) own = WaitList::withdraw(*this);
    leave();
  }
  if (own != nullptr) task::drop_reference(own);
  channel_.changed();
}

}  // namespace taskbench::rt::sync::mpmc::detail
