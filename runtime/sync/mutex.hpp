// Mutual exclusion between tasks, held across suspensions.
//
//   auto guard = co_await mutex.lock();
//
// Waiting blocks no worker. Where the critical section does not suspend, a std::mutex is cheaper.
//
// Threads: every function may be called from any thread; lock is awaited by a task. A Guard may be
// destroyed on another thread than the one that made it, as its task may have moved. The mutex must
// outlive its guards and its waiters.
//
// Fair: the lock is handed over in the order in which tasks asked for it. Not recursive. There is
// no poisoning: an exception that leaves the critical section unlocks.
//
// It is a semaphore of one permit; the invariants are those of semaphore.hpp.
#pragma once

#include <coroutine>
#include <optional>
#include <utility>

#include "runtime/sync/semaphore.hpp"

namespace taskbench::rt::sync {

class Mutex {
 public:
  /// Holds the lock until it is destroyed.
  class [[nodiscard]] Guard {
   public:
    /// Releases the lock now.
    void unlock() noexcept { permit_.release(); }
    [[nodiscard]] bool owns_lock() const noexcept { return permit_.count() != 0; }

   private:
    friend class Mutex;
    explicit Guard(Semaphore::Permit permit) noexcept : permit_(std::move(permit)) {}
    Semaphore::Permit permit_;
  };

  /// What lock() returns, to be awaited by one coroutine at a time, also in branches of one task.
  class [[nodiscard]] Lock {
   public:
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> coroutine) {
      return acquire_.await_suspend(coroutine);
    }
    Guard await_resume() noexcept {
      // Never nullopt: the semaphore is never closed.
      return Guard(*acquire_.await_resume());
    }

   private:
    friend class Mutex;
    explicit Lock(Semaphore& semaphore) noexcept : acquire_(semaphore, 1) {}
    Semaphore::Acquire acquire_;
  };

  /// co_await gives a Guard. Cancellation-safe: a wait that is given up loses only its place.
  [[nodiscard]] Lock lock() noexcept { return Lock(semaphore_); }

  /// nullopt: locked, or about to be locked by a waiting task.
  [[nodiscard]] std::optional<Guard> try_lock() noexcept {
    std::optional<Semaphore::Permit> permit = semaphore_.try_acquire();
    if (!permit) return std::nullopt;
    return Guard(*std::move(permit));
  }

 private:
  Semaphore semaphore_{1};
};

}  // namespace taskbench::rt::sync
