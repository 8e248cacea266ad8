// Whether a call in one direction of a descriptor may succeed, and who waits until it may.
//
// Threads: set() by the thread that has the driver; the others by the task that reads, or writes.
//
// The driver asks the kernel for edges: it is told once that there is something to read, not again
// until more comes. So no edge may be lost between a call that finds nothing and the wait for the
// next. An operation therefore *takes* the readiness before its call: an edge that comes during the
// call sets it anew. Who is refused by the kernel (EAGAIN) leaves it taken and waits, and so does
// who got less than he asked TCP for: the next edge comes with the next byte. Who may have left
// something gives it back.
//
//   no -> waiting (a task's header) -> yes | lasting     (the wait, and the event that ends it)
//   yes, lasting -> no -> yes, lasting                   (taken; given back, or a new event)
//   waiting -> no                                        (withdrawn)
//   any -> closed                                        (for good: the driver has ended)
//
// lasting is a `yes` that only EAGAIN ends: the end of the stream has come, which is still to be
// read after the last bytes and has no edge of its own; or urgent data, before which a read stops.
//
// closed: nobody will tell of events any more. Every call is made, and what would have to wait
// fails.
//
// Invariants
//   R1  The word holds a header exactly while a counted reference to that task belongs to it.
//   R2  No edge is lost: after an event the word is not `no` until somebody has taken the
//       readiness, who then makes a call.
//   R3  Once closed, closed for good: an event that comes still puts it right at once.
//
// Rejected: to look first and to clear what was seen only after EAGAIN. The edge that comes in
// between would be cleared as well, unless each event carried a number (Tokio's tick), and an
// operation that fails would cost as much as it does here.
#pragma once

#include <cstdint>

#include "runtime/base/sync_primitives.hpp"
#include "runtime/task/harness.hpp"

namespace taskbench::rt::driver {

class Readiness {
 public:
  enum class State : std::uintptr_t {
    no = 0,
    yes = 1,
    lasting = 2,  ///< yes, also after a call that did less than it was asked for
    closed = 3,   ///< there is nothing to wait for; taking leaves it as it is
  };
  enum class Wait : std::uint8_t {
    waits,    ///< the task will be woken
    ready,    ///< take it
    refused,  ///< some other task waits here
  };

  /// The readiness, which is gone then; or `no`.
  [[nodiscard]] State take() noexcept {
    std::uintptr_t seen = word_.load(base::relaxed);  // relaxed: the exchange below synchronises
    while (seen == word_of(State::yes) || seen == word_of(State::lasting)) {
      // acquire: pairs with the release in set(): the call comes after what it was announced for;
      // relaxed on failure: looks again
      if (word_.compare_exchange_weak(seen, word_of(State::no), base::acquire, base::relaxed)) {
        return State{seen};
      }
    }
    return seen == word_of(State::closed) ? State::closed : State::no;
  }

  /// After take(): `state` holds on, unless something newer is known.
  void give_back(State state) noexcept {
    std::uintptr_t seen = word_of(State::no);
    // relaxed: a read-modify-write, as every change of the word is: so the release of the event
    // that was taken goes on with it. On failure an event was faster
    if (word_.compare_exchange_strong(seen, word_of(state), base::relaxed, base::relaxed)) return;
    // Two tasks share the direction, as they may when they take turns: the other has begun to wait.
    if (waiter_in(seen) != nullptr) set(state);
  }

  /// `task` is the one that this thread polls. `waits_already`: it was put here before, by the same
  /// awaiter.
  [[nodiscard]] Wait wait(task::Header* task, bool waits_already) noexcept {
    const auto wanted = reinterpret_cast<std::uintptr_t>(task);
    std::uintptr_t seen = word_.load(base::relaxed);  // relaxed: only tells what to do next
    if (seen == wanted) return waits_already ? Wait::waits : Wait::refused;
    if (waiter_in(seen) != nullptr) return Wait::refused;
    if (seen != word_of(State::no)) return Wait::ready;
    task::reference_in_poll(task);
    // release: pairs with the acquire in set(), which then wakes the task; relaxed on failure: it
    // is taken next
    if (word_.compare_exchange_strong(seen, wanted, base::release, base::relaxed)) {
      return Wait::waits;
    }
    task::drop_reference(task);
    return waiter_in(seen) != nullptr ? Wait::refused : Wait::ready;
  }

  /// `task` no longer waits; it may have been woken already.
  void withdraw(task::Header* task) noexcept {
    auto seen = reinterpret_cast<std::uintptr_t>(task);
    // relaxed: nothing comes with it; the reference is this task's own, and kept until here (R1)
    if (word_.compare_exchange_strong(seen, word_of(State::no), base::relaxed, base::relaxed)) {
      task::drop_reference(task);
    }
  }

  /// An event: wakes who waits.
  void set(State state) noexcept {
    task::Header* const waiter = put(state);
    if (waiter != nullptr) task::wake(waiter);
  }

  /// Nobody watches any more. Returns who waits, to be woken.
  [[nodiscard]] task::Header* close() noexcept { return put(State::closed); }

  [[nodiscard]] bool is_awaited() const noexcept {
    return waiter_in(word_.load(base::relaxed)) != nullptr;  // relaxed: for an assertion
  }

 private:
  /// Returns who waits.
  [[nodiscard]] task::Header* put(State state) noexcept {
    // acq_rel: pairs with the acquire in take(), and with the release in wait()
    const std::uintptr_t before = word_.exchange(word_of(state), base::acq_rel);
    if (before != word_of(State::closed)) return waiter_in(before);
    // R3. acquire: pairs with the release in wait(), if somebody has begun to wait in between
    return waiter_in(word_.exchange(before, base::acquire));
  }
  static constexpr std::uintptr_t word_of(State state) noexcept {
    return static_cast<std::uintptr_t>(state);
  }
  static task::Header* waiter_in(std::uintptr_t word) noexcept {
    return word > word_of(State::closed) ? reinterpret_cast<task::Header*>(word) : nullptr;
  }

  // Nothing is known of a new descriptor: whoever comes first tries.
  base::Atomic<std::uintptr_t> word_{word_of(State::yes)};
};

}  // namespace taskbench::rt::driver
