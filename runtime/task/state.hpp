// The state of a task: one 64-bit word, every transition of it here.
//
//                     spawn
//                       v
//     +---------> ACTIVE (queued or being polled) -------------> COMPLETE
//     |             |        ^                     finished,
//     | wake:       | suspend|  wake: sets WOKEN   cancelled
//     | takes the   v        |  (poll once more)
//     +---------- idle ------+
//
// ACTIVE is the poll right. Exactly one party has it: the queue that the task is in, the worker
// that polls it, or the thread that moves it from one to the other. It is moved, never copied: only
// the wake that takes an idle task to ACTIVE may queue it, so a task is in at most one queue. Being
// queued and being polled are one state on purpose: a poll begins with a load, and a task that
// yields goes back to the queue with no transition at all.
//
// Bits
//   ACTIVE         some party has the poll right
//   WOKEN          a wake came while the task was ACTIVE; its poller must poll once more
//   COMPLETE       the coroutine is gone; the output, if any, can be taken
//   CANCELLED      abort or shutdown asked the task to end; the holder of the poll right obeys
//   JOIN_INTEREST  a JoinHandle exists
//   JOIN_WAKER     the JoinHandle left a waker in the trailer
//   JOIN_CHANGED   the JoinHandle has taken a waker back: the one in the trailer may change
//   references     above: one each for wakers and abort handles
//
// Memory: the scheduler holds one reference that is not counted; it lasts until the task is
// COMPLETE and its last ACTIVE holder has let go. So waking, queueing and polling change no count.
// JOIN_INTEREST is the JoinHandle's reference. The memory is freed by the party that finds
// COMPLETE, not ACTIVE, no JOIN_INTEREST and no references.
//
// Sole owner: if the word shows ACTIVE and neither JOIN_INTEREST nor references, only the holder of
// the poll right can reach the task (except through OwnedTasks, under its lock). Then the holder
// needs no read-modify-write to end it.
//
// Output: written before COMPLETE by the holder of the poll right. If JOIN_INTEREST stood when
// COMPLETE was set, the output is the JoinHandle's to take or destroy; otherwise the completer's.
// Join waker: written by the JoinHandle while JOIN_WAKER is clear and the task is not COMPLETE; if
// JOIN_WAKER stood when COMPLETE was set, it is the completer's to wake. If a single task awaits
// the handle to the end, the completer reads the waker before, so that COMPLETE is set and ACTIVE
// cleared in one step.
#pragma once

#include <cstdint>

#include "runtime/base/sync_primitives.hpp"

namespace taskbench::rt::task {

class State {
 public:
  /// What the caller of a wake has to do.
  enum class Wake : std::uint8_t {
    nothing,   ///< the task is complete, or its poller will see WOKEN
    schedule,  ///< the caller now has the poll right and must queue the task
    free,      ///< the caller's was the last reference: free the memory
  };
  enum class Suspend : std::uint8_t {
    idle,    ///< the poll right is given back; the task must not be touched any more
    again,   ///< woken meanwhile: still ours, queue it
    cancel,  ///< cancelled meanwhile: still ours, end it
  };
  enum class Start : std::uint8_t { poll, cancel };

  /// The bits of a task that is about to complete.
  class Ending {
   public:
    /// Whether only the holder of the poll right can reach the task (see the top).
    [[nodiscard]] bool has_sole_owner() const noexcept {
      return (word_ & (kReferenceMask | kJoinInterest)) == 0;
    }
    /// If false, the completer may destroy the output at any time: no handle can appear.
    [[nodiscard]] bool has_handle() const noexcept { return (word_ & kJoinInterest) != 0; }
    [[nodiscard]] bool has_waker() const noexcept { return (word_ & kJoinWaker) != 0; }
    /// Whether the waker may be taken back, and another be left in its place.
    [[nodiscard]] bool waker_may_change() const noexcept { return (word_ & kJoinChanged) != 0; }

   private:
    friend class State;
    explicit Ending(std::uint64_t word) noexcept : word_(word) {}
    std::uint64_t word_;
  };

  /// What the completer must do, according to the bits that stood when COMPLETE was set.
  struct Completed {
    bool owns_output;  ///< no JoinHandle: destroy the output
    bool has_waker;    ///< wake the join waker
  };

  /// Before the task is shared: the poll right is the spawner's, the handle exists.
  void init_spawned() noexcept {
    word_.store(kActive | kJoinInterest, base::relaxed);  // relaxed: not shared yet
  }

  /// The holder of the poll right is about to poll.
  [[nodiscard]] Start start_poll() noexcept {
    // acquire: pairs with the release of wakes that set WOKEN, and of abort
    const std::uint64_t seen = word_.load(base::acquire);
    if ((seen & (kWoken | kCancelled)) == 0) return Start::poll;
    if ((seen & kCancelled) != 0) return Start::cancel;
    // acquire: pairs with the release of the wakes that this poll now answers
    word_.fetch_and(~kWoken, base::acquire);
    return Start::poll;
  }

  /// After a poll that did not finish. `new_references` were handed out by the poller and not
  /// counted yet.
  [[nodiscard]] Suspend suspend(std::uint32_t new_references) noexcept {
    // relaxed: only a first guess for the compare-exchange
    std::uint64_t seen = word_.load(base::relaxed);
    for (;;) {
      const bool keep = (seen & (kWoken | kCancelled)) != 0;
      const std::uint64_t desired =
          (seen & ~(keep ? kWoken : kActive)) + new_references * kReference;
      // acq_rel: pairs with the wake that takes the poll right next, and with the wakes and
      // aborts that this poll must see. relaxed: on failure only the value is taken
      if (word_.compare_exchange_weak(seen, desired, base::acq_rel, base::relaxed)) {
        if (!keep) return Suspend::idle;
        return (seen & kCancelled) != 0 ? Suspend::cancel : Suspend::again;
      }
    }
  }

  /// A wake that keeps the caller's reference.
  [[nodiscard]] Wake wake_by_ref() noexcept { return wake_and_drop(0); }

  /// A wake that gives up the caller's reference, in the same step.
  [[nodiscard]] Wake wake() noexcept { return wake_and_drop(kReference); }

  /// Asks the task to end.
  [[nodiscard]] Wake abort() noexcept {
    // relaxed: only a first guess for the compare-exchange
    std::uint64_t seen = word_.load(base::relaxed);
    for (;;) {
      if ((seen & (kComplete | kCancelled)) != 0) return Wake::nothing;
      // acq_rel: pairs with start_poll and suspend of the holder of the poll right, or with the
      // suspend that gave the right back. relaxed: on failure only the value is taken
      if (word_.compare_exchange_weak(seen, seen | kActive | kCancelled, base::acq_rel,
                                      base::relaxed)) {
        return (seen & kActive) != 0 ? Wake::nothing : Wake::schedule;
      }
    }
  }

  /// For the holder of the poll right, which has destroyed the coroutine and stored the output.
  [[nodiscard]] Ending ending() const noexcept {
    // acquire: pairs with the release of the party that dropped the last reference or the handle,
    // and with that of set_join_waker
    return Ending(word_.load(base::acquire));
  }

  /// Completes a task that has a handle and lets go of it, in one step. False: something has
  /// changed since `seen`, which is brought up to date.
  [[nodiscard]] bool try_complete(Ending& seen, std::uint32_t new_references) noexcept {
    const std::uint64_t desired = (seen.word_ | kComplete) - kActive + new_references * kReference;
    // release: pairs with the JoinHandle's acquire of COMPLETE (output), and with that of the party
    // that frees the memory; acquire: as in ending()
    return word_.compare_exchange_weak(seen.word_, desired, base::release, base::acquire);
  }

  /// Completes a task that has no handle and whose output is destroyed, and lets go of it. True:
  /// free the memory.
  [[nodiscard]] bool complete_detached(std::uint32_t new_references) noexcept {
    const std::uint64_t change = kComplete - kActive + new_references * kReference;
    // acq_rel: pairs with the release of every other party that let go, so that all their uses of
    // the memory lie before its end, and with their acquire
    return is_last(word_.fetch_add(change, base::acq_rel) + change);
  }

  /// Completes the task for the holder of the poll right, which lets go of the task later.
  [[nodiscard]] Completed complete(std::uint32_t new_references) noexcept {
    // acq_rel: pairs with the JoinHandle's acquire of COMPLETE (output), and with the release of
    // JOIN_WAKER (waker). The bit is not set before, so adding it is setting it.
    const std::uint64_t seen =
        word_.fetch_add(kComplete + new_references * kReference, base::acq_rel);
    return {(seen & kJoinInterest) == 0, (seen & kJoinWaker) != 0};
  }

  /// The last act of the completer. True: free the memory.
  [[nodiscard]] bool release_active() noexcept {
    // acq_rel: pairs with the release of every other party that let go, so that all their uses
    // of the memory lie before its end
    const std::uint64_t seen = word_.fetch_and(~kActive, base::acq_rel);
    return (seen & (kReferenceMask | kJoinInterest)) == 0;
  }

  /// Whether the task is to end. For the holder of the poll right, and the forks it has begun.
  [[nodiscard]] bool is_cancelled() const noexcept {
    // relaxed: advice; nothing is read on the strength of it
    return (word_.load(base::relaxed) & kCancelled) != 0;
  }

  [[nodiscard]] bool is_complete() const noexcept {
    // acquire: pairs with the release of the completer: the output may be read
    return (word_.load(base::acquire) & kComplete) != 0;
  }

  /// The JoinHandle stored a waker in the trailer. False: the task is complete by now, and the
  /// waker is still the handle's.
  [[nodiscard]] bool set_join_waker() noexcept {
    // acquire: pairs with the release of the completer, for the failing return
    std::uint64_t seen = word_.load(base::acquire);
    for (;;) {
      if ((seen & kComplete) != 0) return false;
      // release: pairs with the acquire of the completer, which reads the waker;
      // acquire: pairs with the release of the completer on failure
      if (word_.compare_exchange_weak(seen, seen | kJoinWaker, base::release, base::acquire)) {
        return true;
      }
    }
  }

  /// The JoinHandle wants its waker back. False: the task is complete by now, and the waker is the
  /// completer's.
  [[nodiscard]] bool unset_join_waker() noexcept {
    // acquire: pairs with the release of the completer, for the failing return
    std::uint64_t seen = word_.load(base::acquire);
    for (;;) {
      if ((seen & kComplete) != 0) return false;
      // acquire: pairs with the release of the completer on failure. On success it orders nothing:
      // a completer that comes later does not use the waker
      if (word_.compare_exchange_weak(seen, (seen & ~kJoinWaker) | kJoinChanged, base::acquire,
                                      base::acquire)) {
        return true;
      }
    }
  }
  /// set_join_waker() for a task that no other thread can reach through a queue. False:
  /// set_join_waker() has to be called.
  [[nodiscard]] bool set_join_waker_unshared() noexcept {
    return change_unshared(kActive | kJoinInterest | kJoinWaker);
  }
  [[nodiscard]] bool has_join_waker() const noexcept {
    // relaxed: asked by the JoinHandle, which alone sets and clears the bit
    return (word_.load(base::relaxed) & kJoinWaker) != 0;
  }

  struct JoinDrop {
    bool complete;   ///< the output is the handle's: destroy it, then call drop_complete_join
    bool has_waker;  ///< the waker is the handle's again: destroy it
  };

  /// The JoinHandle is dropped. If the task is not complete, this drops the interest.
  [[nodiscard]] JoinDrop drop_join() noexcept {
    // acquire: pairs with the release of the completer, for the complete return
    std::uint64_t seen = word_.load(base::acquire);
    for (;;) {
      if ((seen & kComplete) != 0) return {true, false};
      // release: pairs with the acquire of the completer and of the party that frees the memory;
      // acquire: pairs with the release of the completer on failure
      if (word_.compare_exchange_weak(seen, seen & ~(kJoinInterest | kJoinWaker), base::release,
                                      base::acquire)) {
        return {false, (seen & kJoinWaker) != 0};
      }
    }
  }

  /// drop_join() for a task that no other thread can reach through a queue. False: handles or
  /// wakers of it exist, or it has begun; drop_join() has to be called.
  [[nodiscard]] bool drop_join_unshared() noexcept { return change_unshared(kActive); }

  /// The handle of a complete task lets go of the memory. True: free it.
  [[nodiscard]] bool drop_complete_join() noexcept {
    // acquire: pairs with the release of every other party that let go. Nobody can appear
    if ((word_.load(base::acquire) & (kReferenceMask | kActive)) == 0) return true;
    // acq_rel: pairs with the release of every other party that let go
    const std::uint64_t seen = word_.fetch_and(~kJoinInterest, base::acq_rel);
    return (seen & (kReferenceMask | kActive)) == 0;
  }

  void add_reference() noexcept {
    // relaxed: the caller has a reference already, so the memory cannot go away meanwhile
    word_.fetch_add(kReference, base::relaxed);
  }

  /// Gives up a reference. True: it was the last, free the memory.
  [[nodiscard]] bool drop_reference() noexcept {
    // acq_rel: pairs with the release of every other party that let go
    const std::uint64_t seen = word_.fetch_sub(kReference, base::acq_rel);
    return is_last(seen - kReference);
  }

 private:
  static constexpr std::uint64_t kActive = 1U << 0;
  static constexpr std::uint64_t kWoken = 1U << 1;
  static constexpr std::uint64_t kComplete = 1U << 2;
  static constexpr std::uint64_t kCancelled = 1U << 3;
  static constexpr std::uint64_t kJoinInterest = 1U << 4;
  static constexpr std::uint64_t kJoinWaker = 1U << 5;
  static constexpr std::uint64_t kJoinChanged = 1U << 6;
  static constexpr std::uint64_t kReference = 1U << 7;
  static constexpr std::uint64_t kReferenceMask = ~(kReference - 1);

  static constexpr bool is_last(std::uint64_t word) {
    return (word & (kReferenceMask | kJoinInterest | kActive | kComplete)) == kComplete;
  }

  /// Changes the word of a task that no other thread can reach through a queue, if only its handle
  /// can.
  bool change_unshared(std::uint64_t desired) noexcept {
    // acquire: pairs with the release of the party that dropped the last reference: the store below
    // ends its release sequence, and the party that frees the memory would not be ordered after it
    if (word_.load(base::acquire) != (kActive | kJoinInterest)) return false;
    word_.store(desired, base::relaxed);  // relaxed: no other thread can reach the task
    return true;
  }

  Wake wake_and_drop(std::uint64_t reference) noexcept {
    // relaxed: only a first guess for the compare-exchange, or the end of a task of which nothing
    // else is read
    std::uint64_t seen = word_.load(base::relaxed);
    for (;;) {
      std::uint64_t desired = 0;
      Wake outcome = Wake::nothing;
      if ((seen & kComplete) != 0) {
        if (reference == 0) return Wake::nothing;
        desired = seen - reference;
        if (is_last(desired)) outcome = Wake::free;
      } else if ((seen & kActive) != 0) {
        // Needed even when WOKEN stands already: the compare-exchange is what lets the next poll
        // see what the waker wrote before.
        desired = (seen | kWoken) - reference;
      } else {
        desired = (seen | kActive) - reference;
        outcome = Wake::schedule;
      }
      // acq_rel: pairs with start_poll and suspend, so that the next poll sees what was written
      // before the wake, and with every party that let go. relaxed: on failure only the value is
      // taken
      if (word_.compare_exchange_weak(seen, desired, base::acq_rel, base::relaxed)) return outcome;
    }
  }

  base::Atomic<std::uint64_t> word_{0};
};

}  // namespace taskbench::rt::task
