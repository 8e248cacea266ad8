#include "runtime/sync/semaphore.hpp"

#include "runtime/base/assert.hpp"

namespace taskbench::rt::sync {

using Place = detail::Waiter::Place;

Semaphore::Semaphore(std::size_t permits) noexcept : available_(permits) {
  TASKBENCH_ASSERT(permits <= kMaxPermits, "a semaphore holds at most kMaxPermits");
}

Semaphore::~Semaphore() {
  TASKBENCH_ASSERT(taken_ == 0,
                   "a Semaphore or Mutex was destroyed while a Permit or Guard held it");
}

/// Does not overtake waiters; a request for no permits is not overtaking.
bool Semaphore::take_now(std::size_t count) noexcept {
  if (closed_ || count > available_ || (count != 0 && !waiting_.empty())) return false;
  available_ -= count;
  taken_ += count;
  return true;
}

/// Hands out permits until S2 holds. True: the batch was full before that; the caller wakes it and
/// calls again.
bool Semaphore::grant_ready(detail::WakeBatch& batch) noexcept {
  while (!closed_ && !waiting_.empty()) {
    const std::size_t wanted = static_cast<Acquire&>(waiting_.front()).count_;
    if (wanted > available_) return false;
    if (batch.full()) return true;
    available_ -= wanted;
    taken_ += wanted;
    batch.add(waiting_.grant_front());
  }
  return false;
}

std::optional<Semaphore::Permit> Semaphore::try_acquire(std::size_t count) noexcept {
  base::LockGuard lock(mutex_);
  if (!take_now(count)) return std::nullopt;
  return Permit(*this, count);
}

void Semaphore::add_permits(std::size_t count) noexcept { give(count, 0); }

/// Adds `count` permits, of which `taken` are given back.
void Semaphore::give(std::size_t count, std::size_t taken) noexcept {
  detail::WakeBatch batch;
  bool more = false;
  do {
    {
      base::LockGuard lock(mutex_);
      TASKBENCH_ASSERT(count - taken <= kMaxPermits - available_ - taken_,
                       "a semaphore has at most kMaxPermits, those that are taken included");
      available_ += std::exchange(count, 0);
      taken_ -= std::exchange(taken, 0);
      more = grant_ready(batch);
    }
    // Unless there is more, a woken task of this batch may destroy the semaphore.
    batch.wake_all();
  } while (more);
}

void Semaphore::close() noexcept {
  detail::WakeBatch batch;
  bool more = false;
  do {
    {
      base::LockGuard lock(mutex_);
      closed_ = true;
      while (!waiting_.empty() && !batch.full()) batch.add(waiting_.dismiss_front());
      more = !waiting_.empty();
    }
    batch.wake_all();
  } while (more);
}

bool Semaphore::is_closed() const noexcept {
  base::LockGuard lock(mutex_);
  return closed_;
}

std::size_t Semaphore::available_permits() const noexcept {
  base::LockGuard lock(mutex_);
  return available_;
}

void Semaphore::Permit::release() noexcept {
  Semaphore* const semaphore = std::exchange(semaphore_, nullptr);
  const std::size_t count = std::exchange(count_, 0);
  if (count != 0) semaphore->give(count, count);
}

void Semaphore::Permit::forget() noexcept {
  Semaphore* const semaphore = std::exchange(semaphore_, nullptr);
  const std::size_t count = std::exchange(count_, 0);
  if (semaphore == nullptr) return;
  base::LockGuard lock(semaphore->mutex_);
  semaphore->taken_ -= count;
}

void Semaphore::Permit::merge(Permit other) noexcept {
  TASKBENCH_ASSERT(other.semaphore_ == semaphore_ && semaphore_ != nullptr,
                   "only permits of the same semaphore are merged");
  count_ += std::exchange(other.count_, 0);
}

std::optional<Semaphore::Permit> Semaphore::Permit::split(std::size_t count) noexcept {
  if (semaphore_ == nullptr || count > count_) return std::nullopt;
  count_ -= count;
  return Permit(*semaphore_, count);
}

bool Semaphore::Acquire::poll_permits(task::Leaf* leaf, task::Header* task) noexcept {
  Acquire& self = *static_cast<Acquire*>(leaf);
  detail::Dropped dropped;
  base::LockGuard lock(self.semaphore_.mutex_);
  switch (self.place()) {
    case Place::queued:
      dropped.set(detail::WaitList::pass_to(self, task));
      return false;
    case Place::granted:
    case Place::dismissed:
      self.waits_ = false;
      return true;
    case Place::outside:
      break;
  }
  if (self.semaphore_.closed_) return true;
  if (self.semaphore_.take_now(self.count_)) {
    self.settle(Place::granted);
    return true;
  }
  self.semaphore_.waiting_.push_back(self, task);
  self.waits_ = true;
  return false;
}

std::optional<Semaphore::Permit> Semaphore::Acquire::await_resume() noexcept {
  const bool granted = place() == Place::granted;
  settle(Place::outside);
  if (!granted) return std::nullopt;
  return Permit(semaphore_, count_);
}

void Semaphore::Acquire::give_up() noexcept {
  task::Header* own = nullptr;
  detail::WakeBatch batch;
  bool more = false;
  {
    base::LockGuard lock(semaphore_.mutex_);
    if (place() == Place::queued) own = detail::WaitList::withdraw(*this);
    if (place() == Place::granted) {
      semaphore_.available_ += count_;
      semaphore_.taken_ -= count_;
    }
    // Needed even if this waiter had no grant: the next may want less than this one did (S2).
    more = semaphore_.grant_ready(batch);
  }
  if (own != nullptr) task::drop_reference(own);
  batch.wake_all();
  if (more) semaphore_.add_permits(0);
}

}  // namespace taskbench::rt::sync
