// A condition variable made of parkers: threads wait for work, each in a parker of its own, until
// one of them is chosen.
//
// Threads: every function with the mutex held that guards the condition.
//
// Invariants
//   N1  A waiter is in the list from the beginning of wait() until take_one() takes it out, or
//       until it takes itself out because its Sleeper has something else for it. A waiter whose
//       parker gets a token in another way, at the end of an engine, never waits again, and lives
//       as long as the list.
#pragma once

#include "runtime/base/sync_primitives.hpp"
#include "runtime/park/parker.hpp"

namespace taskbench::rt::park {

/// `Waiter` has a `Parker parker`, which is the waiting thread's, and a `Waiter* next_waiting`,
/// which belongs to the list while the thread waits.
template <class Waiter>
class Condition {
 public:
  /// Unlocks `mutex`, sleeps until there is a token, and locks it again. False: there is no token,
  /// as the Sleeper has something else, and this waiter was not chosen.
  bool wait(base::Mutex& mutex, Waiter& self) noexcept TASKBENCH_REQUIRES(mutex) {
    self.next_waiting = newest_;
    newest_ = &self;
    mutex.unlock();
    const bool woken = self.parker.park_once();
    mutex.lock();
    if (woken) return true;
    for (Waiter** place = &newest_; *place != nullptr; place = &(*place)->next_waiting) {
      if (*place != &self) continue;
      *place = self.next_waiting;
      return false;
    }
    // This waiter was chosen meanwhile: the token is on its way.
    mutex.unlock();
    self.parker.park();
    mutex.lock();
    return true;
  }

  /// Takes out the waiter that has waited for the shortest time, whose caches are the warmest; the
  /// caller gives its parker a token. nullptr: no thread waits.
  [[nodiscard]] Waiter* take_one() noexcept {
    Waiter* const waiter = newest_;
    if (waiter != nullptr) newest_ = waiter->next_waiting;
    return waiter;
  }

 private:
  Waiter* newest_ = nullptr;
};

}  // namespace taskbench::rt::park
