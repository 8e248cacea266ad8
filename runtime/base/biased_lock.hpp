// A lock that one thread, the owner, takes all the time and others take rarely.
//
// The owner enters and leaves with plain stores and a load; a visitor pays for this with a heavy
// fence (a system call that makes the owner's core pass a barrier). Visits come in bursts: after a
// steal there are timers to cancel, and often another steal. So a visitor leaves the gate ajar:
// both sides then pass full fences, until the owner has passed enough of them and opens it again.
//
// Why both cannot be inside: the story of two threads
//   owner:    owner_inside_ = 1;  light fence;  read gate_; if not open: full fence; read it again
//   visitor:  gate_ = shut;       heavy fence, or full if it was ajar;       read owner_inside_
// The fences are ordered as two seq_cst fences are, so at least one of the two reads sees the
// other's store. The owner that sees the gate shut steps back and waits; the visitor that sees the
// owner inside waits for it to leave. That leaves an owner that passes only a light fence while the
// visitor passes only a full one. But a visitor has passed the heavy fence before the gate was
// ajar: later visitors see all that the owner did until then, and what the owner reads afterwards
// is that visitor's store or a later one, an open gate only where the owner itself has opened it.
//
// Threads: owner_* by the owner, visitor_* by any other thread. Another thread may become the owner
// once it has acquired what the previous one did. The sections must be short and must not call user
// code. If a visitor loses its core inside, the owner waits for it, and a visitor that must come in
// waits for the thread inside. The lock is not fair: an owner among visitors that all must come in
// finds the gate shut more often than they do.
//
// Rejected: a compare-exchange per operation, as by the owner of Tokio's and Go's queues: it waits
// until all stores before it are done, and those are cache misses when tasks are created.
//
// Reference: Vasudevan, Namjoshi & Edwards, "Simple and fast biased locks" (PACT 2010).
#pragma once

#include <cstdint>

#include "runtime/base/asymmetric_fences.hpp"
#include "runtime/base/sync_primitives.hpp"

namespace taskbench::rt::base {

class TASKBENCH_LOCK BiasedLock {
 public:
  void owner_enter() noexcept TASKBENCH_ACQUIRE() TASKBENCH_UNCHECKED {
    // relaxed: ordered before the load of gate_ by the light fence
    owner_inside_.store(1, relaxed);
    light_fence();  // seq_cst: the owner's half of the story at the top
    // acquire: pairs with the release in visitor_leave
    if (__builtin_expect(gate_.load(acquire) != kOpen, 0)) owner_enter_by_full_fence();
  }

  void owner_leave() noexcept TASKBENCH_RELEASE() TASKBENCH_UNCHECKED {
    owner_inside_.store(0, release);  // release: pairs with the acquire of visitors that enter
  }

  /// Fails when another visitor is inside, or when the owner stays inside for long (it lost its
  /// core).
  [[nodiscard]] bool visitor_try_enter() noexcept TASKBENCH_TRY_ACQUIRE(true) TASKBENCH_UNCHECKED {
    // relaxed: a first look that spares the line a write; the exchange decides
    if (gate_.load(relaxed) == kShut) return false;
    // acquire: pairs with the release in visitor_leave, and in the owner's exchange
    const std::uint32_t before = gate_.exchange(kShut, acquire);
    if (before == kShut) return false;
    fence_behind(before);
    // The owner's section is a few instructions; when it takes longer its core is elsewhere.
    for (int i = 0; i < patience(32); ++i) {
      // acquire: pairs with the release in owner_leave
      if (owner_inside_.load(acquire) == 0) return true;
      spin_hint();
    }
    visitor_leave();
    return false;
  }

  /// Waits until it is inside.
  void visitor_enter() noexcept TASKBENCH_ACQUIRE() TASKBENCH_UNCHECKED;

  void visitor_leave() noexcept TASKBENCH_RELEASE() TASKBENCH_UNCHECKED {
    gate_.store(kAjar, release);  // release: pairs with the acquire in owner_enter
  }

 private:
  static constexpr std::uint32_t kOpen = 0;
  static constexpr std::uint32_t kAjar = 1;
  static constexpr std::uint32_t kShut = 2;

  /// Full fences that together cost about as much as a heavy one. In the tester two: one passes the
  /// gate, the next opens it.
  static constexpr int kTurnsAjar = 1 + patience(63);

  void owner_enter_by_full_fence() noexcept;

  /// The fence of a visitor that has shut the gate; `before` is how the gate was.
  static void fence_behind(std::uint32_t before) noexcept {
    if (before == kAjar) {
      full_fence();  // seq_cst: the visitor's half of the story at the top
    } else {
      heavy_fence();  // seq_cst: the visitor's half, where the owner passes light fences
    }
  }

  Atomic<std::uint32_t> owner_inside_{0};
  Atomic<std::uint32_t> gate_{kOpen};
  int turns_ajar_ = 0;  // the owner's
};

/// A lock for which the owner pays as much as a visitor: one locked instruction, as a
/// compare-exchange would be. The biased lock is measured against it.
class TASKBENCH_LOCK EvenLock {
 public:
  void owner_enter() noexcept TASKBENCH_ACQUIRE() TASKBENCH_UNCHECKED { lock_.lock(); }
  void owner_leave() noexcept TASKBENCH_RELEASE() TASKBENCH_UNCHECKED { lock_.unlock(); }
  [[nodiscard]] bool visitor_try_enter() noexcept TASKBENCH_TRY_ACQUIRE(true) TASKBENCH_UNCHECKED {
    lock_.lock();
    return true;
  }
  void visitor_enter() noexcept TASKBENCH_ACQUIRE() TASKBENCH_UNCHECKED { lock_.lock(); }
  void visitor_leave() noexcept TASKBENCH_RELEASE() TASKBENCH_UNCHECKED { lock_.unlock(); }

 private:
  SpinLock lock_;
};

}  // namespace taskbench::rt::base
