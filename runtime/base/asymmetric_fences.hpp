// Fences for pairs of threads of which one, the passer, passes often and the other rarely.
//
// A light fence orders with a heavy one as two seq_cst fences do; two light ones do not. As
// std::experimental::asymmetric_thread_fence of the Concurrency TS 2 (P1202R5). The light one is a
// barrier for the compiler; the heavy one a system call that makes all running threads of the
// process pass a barrier (membarrier): some hundred nanoseconds alone, a few microseconds when
// others run.
//
// That is right for workers that run thousands of tasks between two heavy fences. In a server they
// run a few, and sleep. So there are two ways to pass, and the users say which one to favour:
//
//              light                     heavy
//   biased     barrier for the compiler  full fence, then the system call
//   even       full fence                full fence
//
// Who is under way when that changes: the story of three threads
//   passer:   store;  light barrier;  read light_suffices_, false: full fence;     load
//   other:    store;  full fence;     read full_suffices_, false: heavy barrier;   load
//   changer:  (to even)    light_suffices_ = false;  heavy barrier;  full_suffices_ = true
//             (to biased)  full_suffices_ = false;   full fence;     light_suffices_ = true
// One of the two loads must see the other's store. If a full fence or a heavy barrier is left on
// both sides, that is as ever. Else the passer has read `true` and so has the other. If it has read
// so from a change to even that the passer has not seen, the passer's light barrier came before
// that change's heavy one, and the other, which comes after it, sees the passer's store. If the
// passer has read so from a change to biased that the other has not seen, the other's full fence
// came before that change's, and the passer, which comes after it, sees the other's store.
//
// Where the system has no such call it is even for ever.
//
// Threads: any.
//
// Rejected (docs/adr/0025): a way for each lock and each pool, which the passer would have to look
// up; locked instructions for all, which ADR 0002 has measured.
#pragma once

#include <cstdint>

#include "runtime/base/sync_primitives.hpp"

namespace taskbench::rt::base {

class AsymmetricFences {
 public:
  void light() noexcept {
    light_barrier();  // seq_cst: the passer's half of the story at the top
    // acquire: pairs with the full fence in favour_light: what came before it is seen
    // seq_cst: two full fences are the other way
    if (__builtin_expect(!light_suffices_.load(acquire), 0)) full_fence();
  }

  void heavy() noexcept {
    full_fence();  // seq_cst: the other's half of the story at the top
    // acquire: pairs with the barrier in favour_heavy: what passers did before it is seen
    if (full_suffices_.load(acquire)) return;
    heavy_barrier();  // seq_cst: the other's half, where passers have a barrier for the compiler
  }

  /// Passers are to pay: heavy fences come often.
  void favour_heavy() noexcept {
    // relaxed: a look that spares the line a write
    if (!light_suffices_.load(relaxed) || !begin_change()) return;
    // relaxed: ordered by the barrier
    light_suffices_.store(false, relaxed);
    heavy_barrier();                      // seq_cst: the changer's half of the story at the top
    full_suffices_.store(true, relaxed);  // relaxed: the barrier releases
    end_change();
  }

  /// Passers are to pay nothing: heavy fences are rare. Only where there is a heavy barrier.
  void favour_light() noexcept {
    // relaxed: a look that spares the line a write
    if (light_suffices_.load(relaxed) || !begin_change()) return;
    full_suffices_.store(false, relaxed);  // relaxed: ordered by the fence
    full_fence();                          // seq_cst: the changer's half of the story at the top
    light_suffices_.store(true, relaxed);  // relaxed: the fence releases
    end_change();
  }

 private:
  /// False: another thread changes it, one way or the other.
  [[nodiscard]] bool begin_change() noexcept {
    return !changing_.exchange(true, acquire);  // acquire: pairs with the release in end_change()
  }
  void end_change() noexcept {
    changing_.store(false, release);  // release: pairs with the acquire in begin_change()
  }

  Atomic<bool> light_suffices_{false};
  Atomic<bool> full_suffices_{true};
  Atomic<bool> changing_{false};
};

#if !defined(TASKBENCH_MODEL)  // the tester's primitives have the pair itself, and one way only

namespace detail {
extern AsymmetricFences fences;
}

inline void light_fence() noexcept { detail::fences.light(); }
inline void heavy_fence() noexcept { detail::fences.heavy(); }

/// Before the first thread of any runtime starts: light fences may be free from now on.
void prepare_asymmetric_fences() noexcept;

void favour_light_fences() noexcept;
void favour_heavy_fences() noexcept;

/// Weighs the heavy fences of an engine against the work between them, and favours one or the other
/// way: a heavy barrier costs as much as a full fence for each of some dozens of polls.
class FenceBalance {
 public:
  FenceBalance() = default;
  FenceBalance(const FenceBalance&) = delete;
  FenceBalance& operator=(const FenceBalance&) = delete;
  ~FenceBalance() { favour_light_fences(); }

  /// After a heavy fence.
  void count_heavy() noexcept;
  /// After some dozens of polls.
  void count_work() noexcept {
    // relaxed: a count
    if (__builtin_expect(surplus_.load(relaxed) > 0, 0)) lower();
  }

 private:
  void lower() noexcept;

  Atomic<std::int32_t> surplus_{0};  // of heavy fences
};

#endif

}  // namespace taskbench::rt::base
