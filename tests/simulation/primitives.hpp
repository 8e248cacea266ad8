// The primitives of the simulated machine in place of runtime/base/sync_primitives.hpp. The
// compiler's -include puts this file before each source of the runtime, as for the permutation
// tester: the simulated pool is the one in runtime/, compiled once more.
//
// Only these are replaced; cells, the poller and the socket calls are the runtime's own, as no two
// cores run at once.
#pragma once

#define TASKBENCH_MODEL 1
#define TASKBENCH_SYSTEM_BLOCKS 1  // the arena's blocks, which are the same in each run
#define taskbench taskbench_simulated

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "runtime/base/thread_safety.hpp"
#include "tests/simulation/machine.hpp"

namespace taskbench::rt::base {

inline constexpr std::memory_order relaxed = std::memory_order_relaxed;
inline constexpr std::memory_order acquire = std::memory_order_acquire;
inline constexpr std::memory_order release = std::memory_order_release;
inline constexpr std::memory_order acq_rel = std::memory_order_acq_rel;
inline constexpr std::memory_order seq_cst = std::memory_order_seq_cst;

/// Accesses happen one after the other, in the order of the clocks: memory orders have no effect.
template <class T>
class Atomic {
  using Order = std::memory_order;

 public:
  constexpr Atomic() noexcept : value_{} {}
  constexpr Atomic(T value) noexcept : value_(value) {}
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;

  T load(Order) const noexcept {
    sim::load(this);
    return value_;
  }
  void store(T value, Order order) noexcept {
    order == seq_cst ? sim::locked(this) : sim::store(this);
    value_ = value;
  }
  T exchange(T value, Order) noexcept {
    sim::locked(this);
    return std::exchange(value_, value);
  }
  bool compare_exchange_strong(T& expected, T desired, Order, Order) noexcept {
    sim::locked(this);
    if (value_ != expected) {
      expected = value_;
      return false;
    }
    value_ = desired;
    return true;
  }
  bool compare_exchange_weak(T& expected, T desired, Order success, Order failure) noexcept {
    return compare_exchange_strong(expected, desired, success, failure);
  }
  T fetch_add(T operand, Order) noexcept {
    sim::locked(this);
    return std::exchange(value_, static_cast<T>(value_ + operand));
  }
  T fetch_sub(T operand, Order) noexcept {
    sim::locked(this);
    return std::exchange(value_, static_cast<T>(value_ - operand));
  }
  T fetch_and(T operand, Order) noexcept {
    sim::locked(this);
    return std::exchange(value_, static_cast<T>(value_ & operand));
  }
  T fetch_or(T operand, Order) noexcept {
    sim::locked(this);
    return std::exchange(value_, static_cast<T>(value_ | operand));
  }

  /// The kernel's view, at no cost.
  [[nodiscard]] T peek() const noexcept { return value_; }

 private:
  T value_;
};

struct Clock {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = std::chrono::duration<rep, period>;
  using time_point = std::chrono::time_point<Clock>;
  static constexpr bool is_steady = true;
  static time_point now() noexcept {
    sim::spend_and_give_way(sim::Share::searching, &sim::Costs::clock);
    return time_point(duration(static_cast<rep>(sim::current->now)));
  }
};

inline bool futex_wait(const Atomic<std::uint32_t>& word, std::uint32_t expected,
                       Clock::time_point deadline, sim::Share share = sim::Share::asleep) noexcept {
  sim::machine->begin_to_sleep(share == sim::Share::asleep ? sim::Share::waking : share);
  if (word.peek() != expected) return true;
  const bool limited = deadline != Clock::time_point::max();
  const auto at = static_cast<sim::Ns>(deadline.time_since_epoch().count());
  return sim::machine->block(&word, share, limited ? at : sim::kNever);
}
inline void futex_wake_one(const Atomic<std::uint32_t>* word,
                           sim::Share share = sim::Share::waking) noexcept {
  sim::machine->wake_one(word, share);
}

/// The C library's mutex: a thread that does not get it sleeps at once, and an unlocked mutex goes
/// to whoever comes first, whether it has slept or not.
class Mutex {
 public:
  void lock() noexcept {
    if (!take() && !spin()) {
      while (word_.exchange(kAwaited, acquire) != kFree) {
        static_cast<void>(futex_wait(word_, kAwaited, Clock::time_point::max(), share()));
      }
    }
    pay_section();
  }
  [[nodiscard]] bool try_lock() noexcept {
    if (!take()) return false;
    pay_section();
    return true;
  }
  void unlock() noexcept {
    if (word_.exchange(kFree, release) == kAwaited) futex_wake_one(&word_, share());
  }

 private:
  static constexpr std::uint32_t kFree = 0;
  static constexpr std::uint32_t kHeld = 1;
  static constexpr std::uint32_t kAwaited = 2;

  [[nodiscard]] bool take() noexcept {
    std::uint32_t seen = kFree;
    return word_.compare_exchange_strong(seen, kHeld, acquire, relaxed);
  }
  void pay_section() noexcept {
    if (const auto* section = std::exchange(sim::current->section, nullptr)) {
      sim::spend(share(), (*section)());
    }
  }
  [[nodiscard]] bool spin() noexcept {
    const std::uint32_t most = sim::machine == nullptr ? 0 : sim::machine->changes().spins;
    for (std::uint32_t i = 0; i < most; ++i) {
      sim::spend_and_give_way(share(), &sim::Costs::pause);
      if (word_.load(relaxed) == kFree && take()) return true;
    }
    return false;
  }
  [[nodiscard]] sim::Share share() const noexcept {
    return sim::machine == nullptr ? sim::Share::runtime : sim::machine->share_of(&word_);
  }

  Atomic<std::uint32_t> word_{kFree};
};

template <class Lock>
class [[nodiscard]] Guard {
 public:
  explicit Guard(Lock& lock) : lock_(lock) { lock_.lock(); }
  ~Guard() { lock_.unlock(); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  Lock& lock_;
};
using LockGuard = Guard<Mutex>;

inline void spin_hint() noexcept {
  sim::spend_and_give_way(sim::Share::searching, &sim::Costs::pause);
}
inline void yield_thread() noexcept {
  sim::spend_and_give_way(sim::Share::waking, &sim::Costs::sleep);
}
template <class T, class IsDone>
void spin_until(const Atomic<T>& word, int rounds, const IsDone& is_done) noexcept {
  for (int round = 0; !is_done(word.load(relaxed)); ++round) {
    round < rounds ? spin_hint() : yield_thread();
  }
}

class SpinLock {
 public:
  void lock() noexcept {
    while (locked_.exchange(true, acquire)) {
      spin_until(locked_, 64, [](bool locked) { return !locked; });
    }
  }
  void unlock() noexcept { locked_.store(false, release); }

 private:
  Atomic<bool> locked_{false};
};
using SpinGuard = Guard<SpinLock>;

class Thread {
 public:
  Thread() noexcept = default;
  template <class Function>
  requires(!std::is_same_v<std::remove_cvref_t<Function>, Thread>) explicit Thread(
      Function&& function)
      : joinable_(true), core_(begin(std::forward<Function>(function))) {}
  Thread(Thread&& other) noexcept
      : joinable_(std::exchange(other.joinable_, false)), core_(other.core_) {}
  Thread& operator=(Thread&& other) noexcept {
    std::swap(joinable_, other.joinable_);
    std::swap(core_, other.core_);
    return *this;
  }
  [[nodiscard]] bool joinable() const noexcept { return joinable_; }
  void join() {
    joinable_ = false;
    sim::machine->join(core_);
  }
  void detach() noexcept { joinable_ = false; }
  static unsigned hardware_concurrency() noexcept { return 1; }

 private:
  /// Takes callables that cannot be copied, which std::function does not.
  template <class Function>
  static std::uint32_t begin(Function function) {
    auto owned = std::make_shared<Function>(std::move(function));
    return sim::machine->start([owned]() mutable {
      (*owned)();
      owned.reset();
    });
  }

  bool joinable_ = false;
  std::uint32_t core_ = 0;
};

inline std::size_t next_local() {
  static std::size_t next = 0;
  return next++;
}
/// Released with the arena when the run ends.
template <class T, class Tag = T>
T& of_this_thread() noexcept {
  static const std::size_t place = next_local();
  void*& local = sim::current->locals.at(place);
  if (local == nullptr) local = new T{};
  return *static_cast<T*>(local);
}

constexpr int patience(int rounds) noexcept { return rounds; }
constexpr std::chrono::nanoseconds patience(std::chrono::nanoseconds time) noexcept { return time; }
constexpr std::uint32_t capacity(std::uint32_t slots) noexcept { return slots; }
inline void name_this_thread(const char*) noexcept {}
inline bool start_background_thread(const char*, void (*)() noexcept) noexcept { return true; }
inline void sleep_for(Clock::duration time) noexcept {
  static_cast<void>(sim::machine->block(&time, sim::Share::asleep,
                                        sim::current->now + static_cast<sim::Ns>(time.count())));
}
inline constexpr bool kHasTimeStampCounter = false;
inline std::uint64_t time_stamp_counter() noexcept { return 0; }

inline void full_fence() noexcept {
  if (sim::machine != nullptr) sim::machine->full_fence();
}
inline void light_barrier() noexcept {}
inline void heavy_barrier() noexcept {
  if (sim::machine != nullptr) sim::machine->heavy_fence();
}
inline bool prepare_heavy_barrier() noexcept { return true; }

}  // namespace taskbench::rt::base

#include "runtime/base/asymmetric_fences.hpp"

namespace taskbench::rt::base {

namespace detail {
inline constinit AsymmetricFences fences;
}
inline void light_fence() noexcept { detail::fences.light(); }
inline void heavy_fence() noexcept { detail::fences.heavy(); }

/// Like runtime/base/asymmetric_fences.cpp, except that a heavy fence may have more weight.
class FenceBalance {
 public:
  FenceBalance() noexcept {
    static const bool has_barrier = (detail::fences.end_asking(), true);
    static_cast<void>(has_barrier);
  }
  FenceBalance(const FenceBalance&) = delete;
  FenceBalance& operator=(const FenceBalance&) = delete;
  ~FenceBalance() { set_asking(false); }

  void count_heavy() noexcept {
    const std::int32_t each = weight();
    if (surplus_.load(relaxed) < kMany * each) {
      surplus_.fetch_add(each, relaxed);
    } else {
      set_asking(true);
    }
  }
  void count_work() noexcept {
    if (surplus_.load(relaxed) <= 0) return;
    if (surplus_.fetch_sub(1, relaxed) == 1) set_asking(false);
  }

 private:
  static constexpr std::int32_t kMany = 16;

  /// The total cost of the fence to all cores, relative to its cost with two.
  static std::int32_t weight() noexcept {
    const bool weighs =
        sim::machine != nullptr && sim::machine->changes().fences == sim::Changes::Fences::weighted;
    return weighs ? static_cast<std::int32_t>(std::max(sim::machine->running() / 2, 1U)) : 1;
  }
  void set_asking(bool asks) noexcept {
    if (asks_.load(relaxed) == asks) return;
    const LockGuard lock(mutex_);
    if (asks_.load(relaxed) == asks) return;
    asks_.store(asks, relaxed);
    asks ? detail::fences.ask_passers() : detail::fences.end_asking();
  }

  Atomic<std::int32_t> surplus_{0};
  Mutex mutex_;
  Atomic<bool> asks_{false};
};

}  // namespace taskbench::rt::base

// From here on, the runtime uses its own.
#undef TASKBENCH_MODEL
