// What the permutation tester has to bring in place of runtime/base/sync_primitives.hpp, and no
// more: types that are not the standard's, of which nothing runs. names_test.py shows with it that
// the runtime's sources ask for nothing else, and that what comes of them cannot be linked with the
// runtime itself.
//
// Included before each source, by the compiler's -include.
#pragma once

#define TASKBENCH_MODEL 1
#define TASKBENCH_SYSTEM_BLOCKS 1
#define taskbench taskbench_model

#include <chrono>
#include <cstdint>

namespace taskbench::rt::base {

enum class Order : std::uint8_t { relaxed, acquire, release, acq_rel, seq_cst };
using enum Order;

template <class T>
class Atomic {
 public:
  constexpr Atomic(T value = {}) noexcept : value_(value) {}
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;

  T load(Order) const noexcept;
  void store(T, Order) noexcept;
  T exchange(T, Order) noexcept;
  bool compare_exchange_weak(T&, T, Order, Order) noexcept;
  bool compare_exchange_strong(T&, T, Order, Order) noexcept;
  T fetch_add(T, Order) noexcept;
  T fetch_sub(T, Order) noexcept;
  T fetch_and(T, Order) noexcept;

 private:
  T value_;
};

class Mutex {
 public:
  void lock() noexcept;
  void unlock() noexcept;
};

class SpinLock {
 public:
  void lock() noexcept;
  void unlock() noexcept;
};

template <class Lock>
class Guard {
 public:
  explicit Guard(Lock& lock) noexcept : lock_(lock) { lock_.lock(); }
  ~Guard() { lock_.unlock(); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  Lock& lock_;
};
using LockGuard = Guard<Mutex>;
using SpinGuard = Guard<SpinLock>;

class Thread {
 public:
  template <class Body>
  explicit Thread(Body body) {
    body();
  }
  void join();
  void detach();
  static unsigned hardware_concurrency() noexcept;
};
void name_this_thread(const char* name) noexcept;
void yield_thread() noexcept;
void spin_hint() noexcept;

template <class T, class Tag = T>
T& of_this_thread() noexcept {
  static T value{};
  return value;
}

struct Clock {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = std::chrono::duration<rep, period>;
  using time_point = std::chrono::time_point<Clock>;
  static constexpr bool is_steady = true;
  static time_point now() noexcept;
};
inline constexpr bool kHasTimeStampCounter = false;
std::uint64_t time_stamp_counter() noexcept;

void full_fence() noexcept;
void light_fence() noexcept;
void heavy_fence() noexcept;
bool prepare_asymmetric_fences() noexcept;

bool futex_wait(const Atomic<std::uint32_t>& word, std::uint32_t expected,
                Clock::time_point deadline) noexcept;
void futex_wake_one(const Atomic<std::uint32_t>* word) noexcept;

}  // namespace taskbench::rt::base
