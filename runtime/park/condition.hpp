// A condition variable made of parkers: where threads wait for something to do, each in a parker of
// its own, until somebody chooses one of them.
//
// Threads: every function with the mutex held that guards the condition.
//
// Invariants
//   N1  A waiter is in the list from the beginning of wait() until take_one() takes it out or, when
//       its parker was given a token by somebody else, until it takes itself out.
#pragma once

#include "runtime/base/sync_primitives.hpp"
#include "runtime/park/parker.hpp"

namespace taskbench::rt::park {

/// `Waiter` has a `Parker parker`, which is the waiting thread's, and a `Waiter* next_waiting`,
/// which belongs to the list while the thread waits.
template <class Waiter>
class Condition {
 public:
  /// Gives `mutex` up, sleeps until there is a token, and has the mutex again. False: nobody has
  /// taken this waiter out.
  [[nodiscard]] bool wait(base::Mutex& mutex, Waiter& self) noexcept {
    self.next_waiting = newest_;
    newest_ = &self;
    mutex.unlock();
    self.parker.park();
    mutex.lock();
    for (Waiter** place = &newest_; *place != nullptr; place = &(*place)->next_waiting) {
      if (*place != &self) continue;
      *place = self.next_waiting;
      return false;
    }
    return true;
  }

  /// Takes out the waiter that has waited for the shortest time, whose caches are the warmest; the
  /// caller gives its parker a token. nullptr: nobody waits.
  [[nodiscard]] Waiter* take_one() noexcept {
    Waiter* const waiter = newest_;
    if (waiter != nullptr) newest_ = waiter->next_waiting;
    return waiter;
  }

 private:
  Waiter* newest_ = nullptr;
};

}  // namespace taskbench::rt::park
