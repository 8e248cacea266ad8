// The tester's primitives in place of runtime/base/sync_primitives.hpp. The compiler's -include
// puts this file before each source of the runtime, and of the tests of its models.
#pragma once

#define TASKBENCH_MODEL 1
#define TASKBENCH_SYSTEM_BLOCKS 1
#define taskbench taskbench_model

#include <cstddef>
#include <cstdint>
#include <utility>

#include "tests/model/mc/primitives.hpp"

namespace taskbench::rt::base {

using mc::Atomic;
using mc::Cell;
using mc::Clock;
using mc::Mutex;
using mc::Order;
using mc::Thread;
using enum mc::Order;

/// A waiting thread sleeps: spinning would only add executions.
using SpinLock = mc::Mutex;
using LockGuard = mc::Guard<Mutex>;
using SpinGuard = mc::Guard<SpinLock>;

constexpr int patience(int) noexcept { return 1; }
constexpr std::chrono::nanoseconds patience(std::chrono::nanoseconds) noexcept { return {}; }
constexpr std::uint32_t capacity(std::uint32_t) noexcept { return 4; }

inline void name_this_thread(const char*) noexcept {}
inline void yield_thread(mc::Where where = mc::Where::current()) noexcept { mc::yield(where); }
inline void spin_hint(mc::Where where = mc::Where::current()) noexcept { mc::yield(where); }
template <class T, class IsDone>
void spin_until(const Atomic<T>& word, int, const IsDone& is_done,
                mc::Where where = mc::Where::current()) noexcept {
  (void)word.await(relaxed, is_done, where);
}

template <class T, class Tag = T>
T& of_this_thread() noexcept {
  static const char key = 0;
  return *static_cast<T*>(mc::of_this_thread(&key, sizeof(T), alignof(T),
                                             [](void* memory) { static_cast<T*>(memory)->~T(); }));
}

inline constexpr bool kHasTimeStampCounter = false;
inline std::uint64_t time_stamp_counter() noexcept { return 0; }

inline void full_fence(mc::Where where = mc::Where::current()) noexcept {
  mc::fence(mc::Fence::seq_cst, where);
}
inline void light_fence(mc::Where where = mc::Where::current()) noexcept {
  mc::fence(mc::Fence::light, where);
}
inline void heavy_fence(mc::Where where = mc::Where::current()) noexcept {
  mc::fence(mc::Fence::heavy, where);
}
class FenceBalance {
 public:
  void count_heavy() noexcept {}
  void count_work() noexcept {}
};
/// The parts of the two asymmetric fences, for their model.
inline void light_barrier(mc::Where where = mc::Where::current()) noexcept { light_fence(where); }
inline void heavy_barrier(mc::Where where = mc::Where::current()) noexcept { heavy_fence(where); }

inline bool futex_wait(const Atomic<std::uint32_t>& word, std::uint32_t expected,
                       Clock::time_point deadline,
                       mc::Where where = mc::Where::current()) noexcept {
  const bool limited = deadline != Clock::time_point::max();
  if (limited && deadline <= Clock::now()) return false;
  return mc::futex_wait(&word, 0, expected, limited, where);
}
inline void futex_wake_one(const Atomic<std::uint32_t>* word,
                           mc::Where where = mc::Where::current()) noexcept {
  mc::futex_wake(word, where);
}

/// A poller whose events come from report(), each of which is seen once, like an edge.
class Poller {
 public:
  struct Event {
    void* data;
    std::uint32_t events;
  };

  void open(mc::Where where = mc::Where::current()) {
    mc::require(!is_opened_.get(where), "it is opened once");
    is_opened_.set(true, where);
    opened = this;
    open_.store(1, release, where);
  }
  [[nodiscard]] bool is_open(mc::Where where = mc::Where::current()) const noexcept {
    return open_.load(acquire, where) != 0;
  }
  [[nodiscard]] int descriptor() const noexcept { return 0; }

  [[nodiscard]] std::size_t wait(Clock::time_point deadline,
                                 mc::Where where = mc::Where::current()) noexcept {
    if (deadline != Clock::time_point::min()) {
      entered_.store(1, relaxed, where);
      futex_wake_one(&entered_, where);
      (void)futex_wait(pending_, 0, deadline, where);
    }
    pending_.exchange(0, acquire, where);
    found_ = std::exchange(ready_, {});
    return found_.count;
  }
  [[nodiscard]] Event event(std::size_t index) const noexcept { return found_.all[index]; }
  void wake(mc::Where where = mc::Where::current()) noexcept {
    mc::require(is_opened_.get(where), "it is woken once it is open");
    pending_.exchange(1, release, where);
    futex_wake_one(&pending_, where);
  }
  /// Marks what carries `data` as ready.
  void report(void* data, std::uint32_t events, mc::Where where = mc::Where::current()) noexcept {
    // The list is plain memory: no other thread runs between an operation and the code after it.
    pending_.exchange(1, release, where);
    std::size_t place = 0;
    while (place < ready_.count && ready_.all[place].data != data) ++place;
    if (place == ready_.count) ready_.all[ready_.count++] = {data, 0};
    ready_.all[place].events |= events;
    futex_wake_one(&pending_, where);
  }

  /// Waits until somebody has slept here.
  void await_entry(mc::Where where = mc::Where::current()) {
    while (entered_.load(relaxed, where) == 0) {
      (void)futex_wait(entered_, 0, Clock::time_point::max(), where);
    }
  }
  /// The poller opened last in this execution.
  inline static Poller* opened = nullptr;

 private:
  Cell<bool> is_opened_{false};  // a Cell, as the eventfd that wake() would use is plain memory
  Atomic<std::uint32_t> open_{0};
  Atomic<std::uint32_t> entered_{0};
  Atomic<std::uint32_t> pending_{0};
  struct Events {
    Event all[2] = {};
    std::size_t count = 0;
  };
  Events ready_;  // for the next wait()
  Events found_;
};

}  // namespace taskbench::rt::base
