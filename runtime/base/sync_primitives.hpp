// The only file of the runtime that includes <atomic>, <mutex> and <thread>, reads a clock, or
// defines thread-local variables.
//
// Production code names these types, never the std ones, so that the permutation tester can put its
// own in their place. Here they are the std types, or compile to the same code.
//
// The tester compiles the runtime's sources once more, with a header of its own before each (the
// compiler's -include), which defines TASKBENCH_MODEL, provides what is defined below, and renames
// the namespace `taskbench` by a macro. So the linker sees other names for all of those sources,
// even where no primitive occurs in the name: the two builds cannot be mixed up in one program
// (tests/model/names_test.py). Rejected: an inline namespace. Around the primitives alone, it does
// not change the names of the code that uses them; around everything, each file would have to spell
// it, as clang 16 does not accept an inline namespace that is reopened without it (CWG 2061).
//
// Memory orders are always written, with the short names below; operator forms are not used.
#pragma once

#include "runtime/base/thread_safety.hpp"

#if defined(TASKBENCH_MODEL)
#if !defined(taskbench)
#error "a build against other primitives renames the namespace"
#endif
#else

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <thread>

#if defined(__SANITIZE_THREAD__)
#define TASKBENCH_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TASKBENCH_TSAN 1
#endif
#endif

#if defined(__SANITIZE_ADDRESS__)
#define TASKBENCH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TASKBENCH_ASAN 1
#endif
#endif

// Sanitizers watch freed blocks, so none may be kept for reuse: every block comes from the system.
#if defined(TASKBENCH_TSAN) || defined(TASKBENCH_ASAN)
#define TASKBENCH_SYSTEM_BLOCKS 1
#endif

namespace taskbench::rt::base {

template <class T>
using Atomic = std::atomic<T>;

/// std::mutex, as a type that clang knows to be a lock.
class TASKBENCH_LOCK Mutex {
 public:
  void lock() TASKBENCH_ACQUIRE() TASKBENCH_UNCHECKED { mutex_.lock(); }
  [[nodiscard]] bool try_lock() TASKBENCH_TRY_ACQUIRE(true) TASKBENCH_UNCHECKED {
    return mutex_.try_lock();
  }
  void unlock() TASKBENCH_RELEASE() TASKBENCH_UNCHECKED { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

/// Holds a lock from its construction to its destruction: std::lock_guard, as known to clang.
template <class Lock>
class [[nodiscard]] TASKBENCH_LOCK_SCOPE Guard {
 public:
  explicit Guard(Lock& lock) TASKBENCH_ACQUIRE(lock) : lock_(lock) { lock_.lock(); }
  ~Guard() TASKBENCH_RELEASE() { lock_.unlock(); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  Lock& lock_;
};

using LockGuard = Guard<Mutex>;
using Thread = std::thread;
using Clock = std::chrono::steady_clock;

inline constexpr std::memory_order relaxed = std::memory_order_relaxed;
inline constexpr std::memory_order acquire = std::memory_order_acquire;
inline constexpr std::memory_order release = std::memory_order_release;
inline constexpr std::memory_order acq_rel = std::memory_order_acq_rel;
inline constexpr std::memory_order seq_cst = std::memory_order_seq_cst;

/// The calling thread's own `T`, zero until it is written; destroyed when the thread ends. Not for
/// functions that are inlined into coroutines: these may resume on another thread, and a compiler
/// may keep the address across the suspension. `Tag` tells apart variables of one type. `T` or
/// `Tag` should be from an anonymous namespace, or each access costs as much as to a symbol of
/// another file.
template <class T, class Tag = T>
[[nodiscard]] inline T& of_this_thread() noexcept {
  constinit thread_local T value{};
  return value;
}

// The processor's instructions by the names that g++ and clang have for them: their header of
// intrinsics takes as long to compile as all others here together.

/// The processor's time stamp counter. Its readings follow cause and effect, even between threads:
/// no earlier instruction of the program is still under way when it is read, so an effect that was
/// seen before is older; and a later store cannot have been seen yet.
#if defined(__x86_64__)
inline constexpr bool kHasTimeStampCounter = true;
inline std::uint64_t time_stamp_counter() noexcept {
  __builtin_ia32_lfence();
  return __builtin_ia32_rdtsc();
}
#else
inline constexpr bool kHasTimeStampCounter = false;
inline std::uint64_t time_stamp_counter() noexcept { return 0; }
#endif

/// The sequentially consistent fence: orders this thread's earlier stores before its later loads.
/// On x86 a locked instruction on the stack, which costs an eighth of the mfence that clang emits.
inline void full_fence() noexcept {
#if defined(TASKBENCH_TSAN)
  // The thread sanitizer does not model fences. A locked operation on a private word is the same
  // barrier and adds no happens-before edge that could hide a race.
  std::atomic<int> word{0};
  word.fetch_add(1, std::memory_order_seq_cst);  // seq_cst: the barrier itself, see above
#elif defined(__x86_64__)
  asm volatile("lock; orl $0, -8(%%rsp)" ::: "memory", "cc");
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);  // seq_cst: the barrier that callers ask for
#endif
}

/// Two barriers that together order as two full fences do (base/asymmetric_fences.hpp has the
/// rest): the light one only keeps the compiler from moving anything across, the heavy one makes
/// all running threads of the process pass a barrier.
inline void light_barrier() noexcept {
  // seq_cst: the passing thread's half of a light and heavy pair, see above
  std::atomic_signal_fence(std::memory_order_seq_cst);
}
void heavy_barrier() noexcept;

/// Prepares the heavy barrier, which may be passed from then on. False: the system has none.
[[nodiscard]] bool prepare_heavy_barrier() noexcept;

/// Tells the core that this is a spin loop.
inline void spin_hint() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

/// How many rounds a thread spins before it gives up, sleeps or yields. The permutation tester
/// makes it one: whatever can happen between two looks can also happen after the last.
constexpr int patience(int rounds) noexcept { return rounds; }
/// How long a thread spins. The tester makes it one look.
constexpr std::chrono::nanoseconds patience(std::chrono::nanoseconds time) noexcept { return time; }

/// How many slots a queue has. The tester makes it few, so that it is full soon.
constexpr std::uint32_t capacity(std::uint32_t slots) noexcept { return slots; }

/// Lets another thread of this core run.
inline void yield_thread() noexcept { std::this_thread::yield(); }

/// Looks at `word` until `is_done` holds of its value; after some rounds, gives the core up between
/// two looks. Orders nothing. For loops that do nothing else: the tester explores the first look
/// and the last.
template <class T, class IsDone>
void spin_until(const Atomic<T>& word, int rounds, const IsDone& is_done) noexcept {
  // relaxed: the caller's next operation synchronises
  for (int round = 0; !is_done(word.load(relaxed)); ++round) {
    if (round < rounds) {
      spin_hint();
    } else {
      yield_thread();
    }
  }
}

/// Names the calling thread, for debuggers and the system's tools; at most 15 characters.
void name_this_thread(const char* name) noexcept;

/// Calls `run` on a thread of its own, named `name`, which takes no signals and is never joined:
/// for work that may still be under way when the process ends. False: the system gives no thread.
[[nodiscard]] bool start_background_thread(const char* name, void (*run)() noexcept) noexcept;

/// Sleeps for that time, whatever happens.
void sleep_for(Clock::duration time) noexcept;

/// Sleeps while `word` holds `expected`, at most until `deadline`, and returns false when that has
/// passed; may wake spuriously.
bool futex_wait(const Atomic<std::uint32_t>& word, std::uint32_t expected,
                Clock::time_point deadline) noexcept;

/// Wakes one thread that sleeps on the address. Only the address is used: the word itself may be
/// gone already (some other waiter then wakes spuriously).
void futex_wake_one(const Atomic<std::uint32_t>* word) noexcept;

/// A lock for sections of a few stores. The release is a plain store where a std::mutex needs a
/// second locked instruction. Never held while user code runs.
class TASKBENCH_LOCK SpinLock {
 public:
  void lock() noexcept TASKBENCH_ACQUIRE() TASKBENCH_UNCHECKED {
    // acquire: pairs with the release in unlock()
    while (locked_.exchange(true, acquire)) {
      // The holder may have lost its core: then spinning would only keep it from returning.
      spin_until(locked_, 64, [](bool locked) { return !locked; });
    }
  }
  void unlock() noexcept TASKBENCH_RELEASE() TASKBENCH_UNCHECKED {
    locked_.store(false, release);  // release: pairs with the acquire in lock()
  }

 private:
  Atomic<bool> locked_{false};
};

using SpinGuard = Guard<SpinLock>;

}  // namespace taskbench::rt::base

#endif  // !TASKBENCH_MODEL
