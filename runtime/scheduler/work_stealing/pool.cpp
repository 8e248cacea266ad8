#include "runtime/scheduler/work_stealing/pool.hpp"

#include <chrono>
#include <exception>
#include <utility>

#include "runtime/base/deadline.hpp"
#include "runtime/scheduler/root.hpp"
#include "runtime/task/context.hpp"

namespace taskbench::rt::work_stealing {
namespace {

/// A blocking section of this length costs its thread the worker: about the cost of a hand-off.
/// Many sections are shorter, and cost nothing but the lease.
constexpr std::chrono::nanoseconds kBlocked = base::patience(std::chrono::nanoseconds{20'000});

}  // namespace

base::Ref<Pool> Pool::make(RuntimeOptions options) {
  return start(base::Ref<Pool>(new Pool(std::move(options), Worker::Pace::clock)));
}

base::Ref<Pool> Pool::start(base::Ref<Pool> pool) {
  pool->threads_.start(*pool, *pool, pool->options());
  return pool;
}

void Pool::run_worker(std::uint32_t index) noexcept {
  Worker* own = index < worker_count() ? &worker(index) : stand_by();
  for (; own != nullptr; own = stand_by()) {
    {
      const task::EnterContext enter(this, own);
      own->run();
    }
    if (closed()) return;
    retire(*own);
  }
}

void* Pool::begin_blocking() noexcept {
  Worker* const own = local_worker();
  if (own == nullptr) return nullptr;
  own->begin_blocking();
  if (watch_.is_wanted()) call_watcher();
  return own;
}

void Pool::end_blocking(void* begun) noexcept {
  Worker& own = *static_cast<Worker*>(begun);
  if (own.end_blocking()) return;
  // Waits for the successor, which takes over under the mutex.
  const base::LockGuard lock(mutex_);
  own.resign();
}

void Pool::call_watcher() noexcept {
  const base::LockGuard lock(mutex_);
  if (!standing_by_.empty()) {
    called_ = true;
    // The thread that has waited for the shortest time: its caches are the warmest.
    standing_by_.back()->parker.unpark();
    standing_by_.pop_back();
    return;
  }
  try {
    if (!closed() && thread_count_ - worker_count() < options().max_blocking_threads) {
      standing_by_.reserve(thread_count_ + 1);  // wait() must not fail
      threads_.add(*this, *this, options(), worker_count() + next_index_);
      called_ = true;
      ++next_index_;
      ++thread_count_;
      return;
    }
  } catch (const std::exception&) {
    // The system gives no more threads, or no memory for one.
  }
  // All threads that may exist run or block. The next one that stands by looks by itself, under the
  // mutex and so after this. The next section looks, too.
  watch_.leave();
}

Worker* Pool::stand_by() noexcept {
  StandIn self;
  mutex_.lock();
  Worker* own = nullptr;
  while (own == nullptr && !closed()) {
    if (std::exchange(called_, false) || is_watcher_wanted()) {
      mutex_.unlock();
      own = watch(self);
      mutex_.lock();
    } else if (!wait(self)) {
      --thread_count_;
      break;
    }
  }
  mutex_.unlock();
  return own;
}

bool Pool::wait(StandIn& self) noexcept {
  standing_by_.push_back(&self);
  mutex_.unlock();
  static_cast<void>(self.parker.park_until(base::deadline_in(options().blocking_idle_timeout)));
  mutex_.lock();
  const bool timed_out = std::erase(standing_by_, &self) != 0;
  // A thread that was taken out at this moment has been given a token, too.
  if (!timed_out) static_cast<void>(self.parker.try_park());
  return !timed_out;
}

Worker* Pool::watch(StandIn& self) noexcept {
  for (base::Cell<std::uint32_t>& each : seen_) each.set(0);
  for (;;) {
    bool quiet = true;
    for (std::uint32_t i = 0; i < worker_count(); ++i) {
      Worker& each = worker(i);
      const std::uint32_t word = each.lease.look();
      const bool is_new = seen_[i].get() != word;
      seen_[i].set(word);
      const bool blocks = scheduler::Lease::is_blocking(word);
      quiet = quiet && !is_new && !blocks;
      if (is_new || !blocks) continue;
      Worker* const next = take_over(each, word);
      if (next == nullptr) continue;
      watch_.leave();
      if (is_watcher_wanted()) call_watcher();
      return next;
    }
    if (closed()) return nullptr;
    if (quiet) {
      const base::LockGuard lock(mutex_);  // hands seen_ on
      watch_.leave();                      // stand_by() looks once more
      return nullptr;
    }
    static_cast<void>(self.parker.park_until(Clock::now() + kBlocked));
  }
}

bool Pool::is_watcher_wanted() noexcept {
  for (std::uint32_t i = 0; i < worker_count(); ++i) {
    if (scheduler::Lease::is_blocking(worker(i).lease.look())) return watch_.is_wanted();
  }
  return false;
}

void Pool::close() noexcept {
  WorkerSet::close();
  const base::LockGuard lock(mutex_);
  for (StandIn* each : standing_by_) each->parker.unpark();
}

void Pool::run_root(task::Header* root) noexcept { scheduler::Root(*this).run(root); }

bool Pool::join(Clock::time_point deadline) noexcept { return threads_.join(deadline); }

}  // namespace taskbench::rt::work_stealing
