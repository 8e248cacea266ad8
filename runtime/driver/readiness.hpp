// Whether a call in one direction of a descriptor may succeed, and the task that waits until then.
//
// Threads: set() by the thread that has the driver; the others by the task that reads, or writes.
//
// The driver asks the kernel for edges: it is notified once that there is something to read, and
// not again until more comes. So no edge may be lost between a call that finds nothing and the wait
// for the next. An operation therefore *takes* the readiness before its call: an edge that comes
// during the call sets it anew. An operation that the kernel refuses (EAGAIN) leaves it taken and
// waits, and so does one that got less than it asked TCP for: the next edge comes with the next
// byte. An operation that may have left data gives the readiness back.
//
// The word is a state, together with the task whose operation has begun to wait, if there is one.
// That operation occupies the direction until it takes the readiness or is given up, even once an
// event has woken its task: so a second operation is refused whether that task has been polled in
// the meantime or not, even if it belongs to the same task, in a branch of join() or select().
//
//   no -> no, task -> yes | lasting, task -> no   (waits; the event that ends it; it is taken)
//   yes, lasting -> no -> yes, lasting            (taken; given back, or a new event)
//   any, task -> the same without                 (withdrawn)
//   any -> closed                                 (for good: the driver has ended)
//
// lasting is a `yes` that only EAGAIN ends: the end of the stream has come, which is still to be
// read after the last bytes and has no edge of its own; or urgent data, before which a read stops.
//
// closed: no events will be reported any more. Every call is made, and an operation that would have
// to wait fails.
//
// Invariants
//   R1  While the word holds a task and `no`, a counted reference to the task belongs to it.
//       Otherwise the task stays because the registered operation lies in its coroutines.
//   R2  No edge is lost: after an event the word is not `no` until an operation has taken the
//       readiness, which then makes a call.
//   R3  Once closed, closed for good.
//   R4  Only one operation knows that it stands in the word. No other takes its place until it has
//       taken the readiness or was withdrawn.
//
// Rejected: looking first, and clearing the readiness only after EAGAIN. An edge that comes in
// between would be cleared as well, unless each event carried a number (Tokio's tick), and a
// failing operation would cost as much as it does here.
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
    lasting = 3,  ///< yes, also after a call that did less than it was asked for
    closed = 5,   ///< there is nothing to wait for; taking leaves it as it is
    occupied = 8  ///< returned by take() only: another operation stands here
  };
  enum class Wait : std::uint8_t {
    waits,    ///< the task will be woken
    ready,    ///< there is readiness to take
    refused,  ///< some other operation waits here
  };

  /// Takes the readiness, and removes the registered task from the word; or returns `no` or
  /// `occupied` and changes nothing. `own`: the task for which the calling operation stands here,
  /// or nullptr.
  [[nodiscard]] State take(const task::Header* own) noexcept {
    std::uintptr_t seen = word_.load(base::relaxed);  // relaxed: the exchange below synchronises
    for (;;) {
      if (task_in(seen) != own) return State::occupied;
      if (!is_ready(seen)) return State::no;
      const State state = state_of(seen);
      // acquire: pairs with the release in put(): the call comes after the announced event;
      // relaxed on failure: looks again
      if (word_.compare_exchange_weak(seen, left_by(state), base::acquire, base::relaxed)) {
        return state;
      }
    }
  }

  /// Undoes take(): `state` holds again, unless something newer is known.
  void give_back(State state) noexcept {
    std::uintptr_t seen = word_of(State::no);
    // relaxed: a read-modify-write, as every change of the word is, which continues the release
    // sequence of the event that was taken. On failure an event was faster
    if (word_.compare_exchange_strong(seen, word_of(state), base::relaxed, base::relaxed)) return;
    // Two tasks take turns in this direction, and the other has begun to wait.
    if (!is_ready(seen)) set(state);
  }

  /// Begins to wait. `task` is the one that this thread polls; in its operation take(nullptr) has
  /// returned `no`.
  [[nodiscard]] Wait wait(task::Header* task) noexcept {
    task::reference_in_poll(task);
    std::uintptr_t seen = word_of(State::no);
    // release: pairs with the acquire in put(), after which the task is woken; relaxed on failure:
    // it is taken next
    if (word_.compare_exchange_strong(seen, reinterpret_cast<std::uintptr_t>(task), base::release,
                                      base::relaxed)) {
      return Wait::waits;
    }
    task::drop_reference(task);
    return task_in(seen) != nullptr ? Wait::refused : Wait::ready;
  }

  /// Gives up the operation that stands here for `task`, which may have been woken already.
  void withdraw(task::Header* task) noexcept {
    // relaxed: nothing comes with it; the reference is this task's own, and kept until here (R1)
    if (!is_ready(word_.fetch_and(kStates, base::relaxed))) task::drop_reference(task);
  }

  /// Records an event, and wakes the task that waits for it.
  void set(State state) noexcept {
    task::Header* const waiter = put(state);
    if (waiter != nullptr) task::wake(waiter);
  }

  /// Ends the watch for good. Returns the task that waits, to be woken, or nullptr.
  [[nodiscard]] task::Header* close() noexcept { return put(State::closed); }

  /// Makes the word that of a new descriptor, whose first operation tries at once. The old
  /// descriptor is gone, and no operation stands here.
  void renew() noexcept {
    put(State::yes);
    // relaxed: the lock of Registrations hands over what the next owner needs to see
    word_.fetch_and(~(word_of(State::lasting) & ~word_of(State::yes)), base::relaxed);
  }

  [[nodiscard]] bool is_awaited() const noexcept {
    return task_in(word_.load(base::relaxed)) != nullptr;  // relaxed: for an assertion
  }

 private:
  static constexpr std::uintptr_t kStates = 7;
  static_assert(alignof(task::Header) > kStates);

  /// Adds `state`. Returns the task that waited for it, or nullptr.
  task::Header* put(State state) noexcept {
    // acq_rel: pairs with the acquire in take(), and with the release in wait()
    const std::uintptr_t before = word_.fetch_or(word_of(state), base::acq_rel);
    return is_ready(before) ? nullptr : task_in(before);
  }

  static constexpr std::uintptr_t word_of(State state) noexcept {
    return static_cast<std::uintptr_t>(state);
  }
  static constexpr bool is_ready(std::uintptr_t word) noexcept {
    return (word & word_of(State::yes)) != 0;
  }
  static constexpr State state_of(std::uintptr_t word) noexcept {
    return (word & kStates & ~word_of(State::lasting)) != 0 ? State::closed : State{word & kStates};
  }
  /// The word after a take.
  static constexpr std::uintptr_t left_by(State taken) noexcept {
    return word_of(taken == State::closed ? State::closed : State::no);
  }
  static task::Header* task_in(std::uintptr_t word) noexcept {
    return reinterpret_cast<task::Header*>(word & ~kStates);
  }

  // Nothing is known of a new descriptor: the first operation tries.
  base::Atomic<std::uintptr_t> word_{word_of(State::yes)};
};

}  // namespace taskbench::rt::driver
