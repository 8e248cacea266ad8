// Fences for pairs of threads of which one, the passer, passes often and the other rarely.
//
// A light fence orders with a heavy one as two seq_cst fences do; two light ones do not. The
// contract is that of std::experimental::asymmetric_thread_fence in the Concurrency TS 2 (P1202R5).
// The light one is a barrier for the compiler; the heavy one is a system call that makes all
// running threads of the process pass a barrier (membarrier): some hundred nanoseconds alone, a few
// microseconds when others run.
//
// This suits workers that run thousands of tasks between two heavy fences. In a server they run a
// few, and sleep. So there are two ways to pass; passers pay while any engine asks for it:
//
//              light                     heavy
//   biased     barrier for the compiler  full fence, then the system call
//   even       full fence                full fence
//
// When the way changes in between: the story of three threads
//   passer:   store;  light barrier;  read light_suffices_, false: full fence;     load
//   other:    store;  full fence;     read full_suffices_, false: heavy barrier;   load
//   changer:  (to even)    light_suffices_ = false;  heavy barrier;  full_suffices_ = true
//             (to biased)  full_suffices_ = false;   full fence;     light_suffices_ = true
// One of the two loads must see the other's store. If both sides pass a full fence or a heavy
// barrier, that holds as usual. Otherwise both have read `true`. If the other has read it from a
// change to even that the passer has not seen, the passer's light barrier came before that change's
// heavy one, and the other, which comes after it, sees the passer's store. If the passer has read
// it from a change to biased that the other has not seen, the other's full fence came before that
// change's, and the passer, which comes after it, sees the other's store.
//
// The way is even at first, and stays so if the system has no such call.
//
// Threads: any.
//
// Rejected (docs/adr/0025): a separate way for each lock and each pool, which the passer would have
// to look up; locked instructions for all, which ADR 0002 has measured.
#pragma once

#include <cstdint>

#include "runtime/base/sync_primitives.hpp"

namespace taskbench::rt::base {

class AsymmetricFences {
 public:
  void light() noexcept {
    light_barrier();  // seq_cst: the passer's half of the story at the top
    // acquire: pairs with the full fence in end_asking: what came before it is seen
    // seq_cst: where passers pay, both sides pass full fences
    if (__builtin_expect(!light_suffices_.load(acquire), 0)) full_fence();
  }

  void heavy() noexcept {
    full_fence();  // seq_cst: the other's half of the story at the top
    // acquire: pairs with the barrier in ask_passers: what passers did before it is seen
    if (full_suffices_.load(acquire)) return;
    heavy_barrier();  // seq_cst: the other's half, where passers have a barrier for the compiler
  }

  /// Makes passers pay, as heavy fences are frequent, until each caller has called end_asking().
  void ask_passers() noexcept {
    const LockGuard lock(mutex_);
    if (++askers_ != 1) return;
    // relaxed: ordered by the barrier
    light_suffices_.store(false, relaxed);
    heavy_barrier();                      // seq_cst: the changer's half of the story at the top
    full_suffices_.store(true, relaxed);  // relaxed: the barrier releases
  }

  void end_asking() noexcept {
    const LockGuard lock(mutex_);
    if (--askers_ != 0) return;
    full_suffices_.store(false, relaxed);  // relaxed: ordered by the fence
    full_fence();                          // seq_cst: the changer's half of the story at the top
    light_suffices_.store(true, relaxed);  // relaxed: the fence releases
  }

  [[nodiscard]] bool passers_pay() const noexcept {
    return !light_suffices_.load(relaxed);  // relaxed: for tests, which change it on one thread
  }

 private:
  Atomic<bool> light_suffices_{false};
  Atomic<bool> full_suffices_{true};
  Mutex mutex_;
  /// 1 at first: until the heavy barrier is known to exist.
  int askers_ TASKBENCH_GUARDED_BY(mutex_) = 1;
};

#if !defined(TASKBENCH_MODEL)  // the tester's primitives have a pair of fences of their own

namespace detail {
extern AsymmetricFences fences;
}

inline void light_fence() noexcept { detail::fences.light(); }
inline void heavy_fence() noexcept { detail::fences.heavy(); }

/// Weighs the heavy fences of an engine against the work between them, and asks passers to pay
/// while the fences prevail: a heavy barrier costs as much as a full fence for each of some dozens
/// of polls. Until a process makes its first FenceBalance, light fences are full ones.
class FenceBalance {
 public:
  FenceBalance() noexcept;
  FenceBalance(const FenceBalance&) = delete;
  FenceBalance& operator=(const FenceBalance&) = delete;
  ~FenceBalance() { set_asking(false); }

  /// Called after each heavy fence.
  void count_heavy() noexcept;
  /// Called after some dozens of polls.
  void count_work() noexcept {
    // relaxed: a count
    if (__builtin_expect(surplus_.load(relaxed) > 0, 0)) lower();
  }

 private:
  void lower() noexcept;
  void set_asking(bool asks) noexcept;

  Atomic<std::int32_t> surplus_{0};  // of heavy fences
  Mutex mutex_;                      // guards the writes of asks_
  Atomic<bool> asks_{false};
};

#endif

}  // namespace taskbench::rt::base
