#include "runtime/sync/notify.hpp"

#include <utility>

namespace taskbench::rt::sync {

using Place = detail::Waiter::Place;

/// Returns the task to wake; nullptr: the notification is stored.
task::Header* Notify::choose_one() noexcept {
  if (!waiting_.empty()) return waiting_.grant_front();
  has_permit_ = true;
  return nullptr;
}

void Notify::notify_one() noexcept {
  detail::WakeBatch batch;
  {
    base::LockGuard lock(mutex_);
    batch.add(choose_one());
  }
  batch.wake_all();
}

void Notify::notify_waiters() noexcept {
  detail::WakeBatch batch;
  bool more = false;
  bool first = true;
  do {
    {
      base::LockGuard lock(mutex_);
      if (std::exchange(first, false)) {
        // From here on all earlier waits have ended (N3), whenever their tasks are woken.
        ++round_;
        released_.append(waiting_);
      }
      while (!released_.empty() && !batch.full()) batch.add(released_.dismiss_front());
      more = !released_.empty();
    }
    batch.wake_all();
  } while (more);
}

bool Notify::Notified::poll_notified(task::Leaf* leaf, task::Header* task) noexcept {
  Notified& self = *static_cast<Notified*>(leaf);
  Notify& notify = self.notify_;
  detail::Dropped dropped;
  base::LockGuard lock(notify.mutex_);
  const Place place = self.place();
  const bool notified = place == Place::granted || place == Place::dismissed;
  if (!notified && self.round_ == notify.round_) {
    if (place == Place::queued) {
      dropped.set(detail::WaitList::pass_to(self, task));
      return false;
    }
    if (!notify.has_permit_) {
      notify.waiting_.push_back(self, task);
      self.waits_ = true;
      return false;
    }
    notify.has_permit_ = false;
  }
  if (place == Place::queued) dropped.set(detail::WaitList::withdraw(self));
  if (!notified) self.settle(Place::dismissed);
  self.waits_ = false;
  return true;
}

void Notify::Notified::give_up() noexcept {
  task::Header* own = nullptr;
  detail::WakeBatch batch;
  {
    base::LockGuard lock(notify_.mutex_);
    if (place() == Place::queued) own = detail::WaitList::withdraw(*this);
    if (place() == Place::granted) batch.add(notify_.choose_one());  // N4
  }
  if (own != nullptr) task::drop_reference(own);
  batch.wake_all();
}

}  // namespace taskbench::rt::sync
