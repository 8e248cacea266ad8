// A counting semaphore for tasks.
//
// Threads: every function may be called from any thread; acquire is awaited by a task. A Permit
// belongs to one thread at a time. The semaphore must outlive its permits and its waiters.
//
// Fair: waiters get permits in the order of their arrival, without overtaking, so requests for few
// permits do not starve a request for many.
//
// Invariants
//   S1  available_, taken_, closed_ and waiting_ are guarded by mutex_.
//   S2  After every change the first in waiting_ wants more than available_ holds: permits never
//       lie idle while the first waiter could have them.
//   S3  Permits are never lost: available_ + live permits + permits granted to waiters = the
//       initial number + add_permits - forget, at most kMaxPermits. taken_ counts the live permits
//       and those granted to waiters.
//   S4  Once closed, waiting_ only drains.
//
// Rejected: handing permits one by one to the first waiter, as they come (available_ is then always
// empty while a task waits, which spares the check of S2, but a request that is given up halfway
// must give back a part); an atomic count, with the mutex only for waiters (two protocols to keep
// in step; take it when a profile asks for it).
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "runtime/base/assert.hpp"
#include "runtime/base/sync_primitives.hpp"
#include "runtime/sync/wait_list.hpp"
#include "runtime/task/leaf.hpp"

namespace taskbench::rt::sync {

class Semaphore {
 public:
  static constexpr std::size_t kMaxPermits = SIZE_MAX >> 3;

  class Permit;
  class Acquire;

  /// `permits`: at most kMaxPermits.
  explicit Semaphore(std::size_t permits) noexcept;
  ~Semaphore();
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;

  /// co_await gives std::optional<Permit>: nullopt when the semaphore was closed. `count`: at most
  /// kMaxPermits. It may be more than there are now: later requests wait behind it.
  /// Cancellation-safe: a wait that is given up loses its place and no permits.
  [[nodiscard]] Acquire acquire(std::size_t count = 1) noexcept;

  /// nullopt: not enough permits, or others wait for them, or closed.
  [[nodiscard]] std::optional<Permit> try_acquire(std::size_t count = 1) noexcept;

  /// Adds new permits. There are never more than kMaxPermits, those that are taken included.
  void add_permits(std::size_t count) noexcept;

  /// Refuses to grant permits from now on: waiters get nullopt. Permits already taken stay valid.
  void close() noexcept;

  [[nodiscard]] bool is_closed() const noexcept;
  [[nodiscard]] std::size_t available_permits() const noexcept;

 private:
  bool take_now(std::size_t count) noexcept TASKBENCH_REQUIRES(mutex_);
  void give(std::size_t count, std::size_t taken) noexcept;
  bool grant_ready(detail::WakeBatch& batch) noexcept TASKBENCH_REQUIRES(mutex_);

  mutable base::Mutex mutex_;
  std::size_t available_ TASKBENCH_GUARDED_BY(mutex_);
  std::size_t taken_ TASKBENCH_GUARDED_BY(mutex_) = 0;
  bool closed_ TASKBENCH_GUARDED_BY(mutex_) = false;
  detail::WaitList waiting_ TASKBENCH_GUARDED_BY(mutex_);
};

/// Permits that its owner holds; the destructor gives them back.
class [[nodiscard]] Semaphore::Permit {
 public:
  Permit(Permit&& other) noexcept
      : semaphore_(std::exchange(other.semaphore_, nullptr)),
        count_(std::exchange(other.count_, 0)) {}
  Permit& operator=(Permit&& other) noexcept {
    if (this != &other) {
      release();
      semaphore_ = std::exchange(other.semaphore_, nullptr);
      count_ = std::exchange(other.count_, 0);
    }
    return *this;
  }
  Permit(const Permit&) = delete;
  Permit& operator=(const Permit&) = delete;
  ~Permit() { release(); }

  [[nodiscard]] std::size_t count() const noexcept { return count_; }

  /// Gives the permits back now.
  void release() noexcept;

  /// Gives the permits up for good: the semaphore has fewer from here on.
  void forget() noexcept;

  /// Takes over the permits of another Permit of the same semaphore.
  void merge(Permit other) noexcept;

  /// Splits `count` of the permits off; nullopt when there are fewer.
  [[nodiscard]] std::optional<Permit> split(std::size_t count) noexcept;

 private:
  friend class Semaphore;
  Permit(Semaphore& semaphore, std::size_t count) noexcept
      : semaphore_(&semaphore), count_(count) {}

  Semaphore* semaphore_;  // null once the permits are gone
  std::size_t count_;
};

/// What acquire() returns, to be awaited by one coroutine at a time, also in branches of one task.
class [[nodiscard]] Semaphore::Acquire : private task::Leaf, private detail::Waiter {
 public:
  Acquire(Semaphore& semaphore, std::size_t count) noexcept
      : Leaf(&Acquire::poll_permits), semaphore_(semaphore), count_(count) {}
  ~Acquire() {
    if (waits_) give_up();
  }
  Acquire(const Acquire&) = delete;
  Acquire& operator=(const Acquire&) = delete;

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> coroutine) {
    return task::suspend_with_budget(*this, coroutine);
  }
  std::optional<Permit> await_resume() noexcept;

 private:
  friend class Semaphore;
  static bool poll_permits(task::Leaf* leaf, task::Header* task) noexcept;
  void give_up() noexcept;

  Semaphore& semaphore_;
  const std::size_t count_;
  bool waits_ = false;  // was queued, and has not seen the outcome; its own task only
};

inline Semaphore::Acquire Semaphore::acquire(std::size_t count) noexcept {
  TASKBENCH_ASSERT(count <= kMaxPermits,
                   "a request for more than kMaxPermits is never granted, and holds up all others");
  return Acquire(*this, count);
}

}  // namespace taskbench::rt::sync
