// Decides who gets what a thread leaves for a blocking section: the thread, if it comes back soon,
// or the thread that retakes it before. And whether a thread watches for sections that last.
//
// No section is overlooked: the story of two threads
//   blocker:  the lease says that the section has begun;  fence;  read watched_
//   watcher:  watched_ = false;                           fence;  read all leases
// One of the two fences comes first. If it is the blocker's, the watcher sees the section. If it is
// the watcher's, the blocker sees that no thread watches.
#pragma once

#include <cstdint>

#include "runtime/base/sync_primitives.hpp"

namespace taskbench::rt::scheduler {

/// The lease of a processor of `go`, or of a worker of work_stealing. Its holder is the thread that
/// runs the tasks. The word is odd while the holder is in a blocking section.
class Lease {
 public:
  /// Holder: the section begins, and what is held may be retaken from now on. Returns the argument
  /// for end_blocking().
  [[nodiscard]] std::uint32_t begin_blocking() noexcept {
    // relaxed: only holders change an even word
    const std::uint32_t begun = word_.load(base::relaxed) + 1;
    // release: pairs with the acquire in retake(): hands over all that is held
    word_.store(begun, base::release);
    return begun;
  }

  /// The thread that began the section: ends it. False: what was held has been retaken.
  [[nodiscard]] bool end_blocking(std::uint32_t begun) noexcept {
    // relaxed: no other thread has touched what is held, or else it is lost
    return word_.compare_exchange_strong(begun, begun + 1, base::relaxed, base::relaxed);
  }

  /// The word as it is now, to be given to retake() later.
  [[nodiscard]] std::uint32_t look() const noexcept {
    return word_.load(base::relaxed);  // relaxed: only compared
  }
  [[nodiscard]] static bool is_blocking(std::uint32_t word) noexcept { return word % 2 != 0; }

  /// Takes over what is held, if its holder is still in the section of `seen`. Returns whether it
  /// did.
  [[nodiscard]] bool retake(std::uint32_t seen) noexcept {
    // acquire: pairs with the release in begin_blocking(); relaxed: on failure the thread is back
    return word_.compare_exchange_strong(seen, seen + 1, base::acquire, base::relaxed);
  }

 private:
  base::Atomic<std::uint32_t> word_{0};
};

/// Whether a thread watches the leases.
class Watch {
 public:
  /// Called after Lease::begin_blocking(), or after a look that follows leave(). True: no thread
  /// watches, and the caller must make one watch.
  [[nodiscard]] bool is_wanted() noexcept {
    // seq_cst: the blocker's half of the story at the top
    base::full_fence();
    // relaxed: a first look that spares the line a write; the exchange decides
    if (watched_.load(base::relaxed)) return false;
    // relaxed: only says that a thread watches; the leases hand over what is held
    return !watched_.exchange(true, base::relaxed);
  }

  /// Ends the watch; the watcher must look at all leases once more.
  void leave() noexcept {
    // relaxed: ordered by the fence
    watched_.store(false, base::relaxed);
    // seq_cst: the watcher's half of the story at the top
    base::full_fence();
  }

 private:
  base::Atomic<bool> watched_{false};
};

}  // namespace taskbench::rt::scheduler
