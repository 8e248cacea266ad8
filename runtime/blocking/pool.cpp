#include "runtime/blocking/pool.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "runtime/base/deadline.hpp"
#include "runtime/task/context.hpp"
#include "runtime/task/harness.hpp"

namespace taskbench::rt::blocking {
namespace {

/// How many calls that were aborted a new one may have to end before it waits its turn.
constexpr int kAbortedAtOnce = 16;

struct PoolTag;

/// The pool to which this thread belongs.
const Pool*& pool_of_this_thread() noexcept { return base::of_this_thread<const Pool*, PoolTag>(); }

}  // namespace

void Pool::run(task::Header* call) {
  std::exception_ptr failure;
  queue::Fifo<task::Header> aborted;
  {
    const base::LockGuard lock(mutex_);
    if (!closed_) {
      try {
        if (idle_.empty() && threads_.size() < settings_.max_threads) start_thread();
      } catch (...) {
        if (threads_.empty()) failure = std::current_exception();
      }
      if (failure == nullptr) {
        if (idle_.empty()) aborted = take_aborted();
        calls_.push_back(std::exchange(call, nullptr));
        counters_.calls += 1;
        if (!idle_.empty()) {
          // The thread that has waited for the shortest time: its caches are the warmest.
          idle_.back()->parker.unpark();
          idle_.pop_back();
        }
      }
    }
  }
  if (!aborted.empty()) cancel_all(aborted);
  if (call != nullptr) task::cancel(call);
  if (failure != nullptr) std::rethrow_exception(failure);
}

queue::Fifo<task::Header> Pool::take_aborted() noexcept {
  queue::Fifo<task::Header> aborted;
  for (int i = 0; i < kAbortedAtOnce; ++i) {
    const task::Header* const oldest = calls_.front();
    if (oldest == nullptr || !oldest->state.is_cancelled()) break;
    aborted.push_back(calls_.pop_front());
  }
  if (!aborted.empty()) ++cancelling_;
  return aborted;
}

void Pool::cancel_all(queue::Fifo<task::Header> calls) noexcept {
  // A shutdown in the destructor of what a call holds must not wait for this thread.
  const Pool* const before = std::exchange(pool_of_this_thread(), this);
  while (task::Header* const call = calls.pop_front()) task::cancel(call);
  pool_of_this_thread() = before;
  const base::LockGuard lock(mutex_);
  if (--cancelling_ == 0) joiner_.unpark();
}

void Pool::start_thread() {
  idle_.reserve(threads_.size() + 1);
  Thread& own = threads_.emplace_back();
  try {
    own.thread =
        base::Thread([this, keep = base::Ref<task::Spawner>(&owner_), &own] { work(own); });
  } catch (...) {
    threads_.pop_back();
    throw;
  }
  counters_.peak_threads = std::max<std::uint64_t>(counters_.peak_threads, threads_.size());
}

void Pool::work(Thread& own) noexcept {
  base::name_this_thread(settings_.thread_name.c_str());
  pool_of_this_thread() = this;
  const task::EnterContext enter(&owner_, nullptr, task::MayBlock::yes);
  mutex_.lock();
  do {
    while (task::Header* const call = calls_.pop_front()) {
      mutex_.unlock();
      static_cast<void>(task::poll(call));
      mutex_.lock();
    }
  } while (!closed_ && wait(own));
  leave(own);
}

bool Pool::wait(Thread& own) noexcept {
  idle_.push_back(&own);
  mutex_.unlock();
  static_cast<void>(own.parker.park_until(base::deadline_in(settings_.idle_timeout)));
  mutex_.lock();
  const bool timed_out = std::erase(idle_, &own) != 0;
  // B2: a thread that was taken out at this moment has been given a token, too.
  if (!timed_out) static_cast<void>(own.parker.try_park());
  return !timed_out;
}

void Pool::leave(Thread& own) noexcept {
  const auto place =
      std::ranges::find_if(threads_, [&own](const Thread& each) { return &each == &own; });
  std::list<Thread> before;
  if (detached_) {
    threads_.erase(place);
  } else {
    before.swap(ended_);
    ended_.splice(ended_.end(), threads_, place);
  }
  if (threads_.empty()) joiner_.unpark();
  mutex_.unlock();
  for (Thread& each : before) each.thread.join();
}

void Pool::close() noexcept {
  queue::Fifo<task::Header> left;
  {
    const base::LockGuard lock(mutex_);
    closed_ = true;
    ++cancelling_;
    std::swap(left, calls_);
    for (Thread* each : idle_) each->parker.unpark();
    idle_.clear();
  }
  cancel_all(left);
}

bool Pool::join(Clock::time_point deadline) noexcept {
  const bool waits = deadline != Clock::time_point::min() && !has_this_thread();
  for (bool in_time = waits;; in_time = joiner_.park_until(deadline)) {
    std::list<Thread> ended;
    bool done = false;
    {
      const base::LockGuard lock(mutex_);
      ended.swap(ended_);
      done = threads_.empty() && cancelling_ == 0;
    }
    for (Thread& each : ended) each.thread.join();
    if (done || !in_time) return done;
  }
}

void Pool::detach() noexcept {
  const base::LockGuard lock(mutex_);
  detached_ = true;
  for (Thread& each : threads_) each.thread.detach();
  for (Thread& each : ended_) each.thread.detach();
}

bool Pool::has_this_thread() const noexcept { return pool_of_this_thread() == this; }

BlockingCounters Pool::counters() const {
  const base::LockGuard lock(mutex_);
  BlockingCounters counters = counters_;
  counters.threads = threads_.size();
  return counters;
}

}  // namespace taskbench::rt::blocking
