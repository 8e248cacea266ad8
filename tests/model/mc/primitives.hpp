// Atomics, locks and threads for the tester, with the names of runtime/base/sync_primitives.hpp.
#pragma once

#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "tests/model/mc/engine.hpp"

namespace mc {

template <class T>
class Atomic {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>);

 public:
  constexpr Atomic() noexcept : Atomic(T{}) {}
  constexpr Atomic(T value) noexcept : value_(value) {
    if (!std::is_constant_evaluated() && is_active()) location_begins(this, bits(value));
  }
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;
  constexpr ~Atomic() {
    if (!std::is_constant_evaluated() && is_active()) location_ends(this);
  }

  T load(Order order, Where where = Where::current()) const noexcept {
    return is_active() ? value(mc::load(this, bits(value_), order, where)) : value_;
  }
  void store(T desired, Order order, Where where = Where::current()) noexcept {
    if (is_active()) {
      mc::store(this, bits(value_), bits(desired), order, where);
    } else {
      value_ = desired;
    }
  }
  /// Loads until `is_done` holds for the value, and returns it; `is_done` must look at nothing
  /// else. Replaces `while (!is_done(load(order))) yield();`, every round of which would be
  /// explored.
  template <class IsDone>
  T await(Order order, const IsDone& is_done, Where where = Where::current()) const noexcept {
    if (!is_active()) return value_;
    const auto test = [](const void* context, std::uint64_t bits) {
      return static_cast<bool>((*static_cast<const IsDone*>(context))(value(bits)));
    };
    return value(mc::await(this, bits(value_), test, &is_done, order, where));
  }
  T exchange(T desired, Order order, Where where = Where::current()) noexcept {
    return modified([](std::uint64_t, std::uint64_t operand) { return operand; }, desired, order,
                    where);
  }
  bool compare_exchange_strong(T& expected, T desired, Order success, Order failure,
                               Where where = Where::current()) noexcept {
    return exchanged_if(expected, desired, false, success, failure, where);
  }
  bool compare_exchange_weak(T& expected, T desired, Order success, Order failure,
                             Where where = Where::current()) noexcept {
    return exchanged_if(expected, desired, true, success, failure, where);
  }
  T fetch_add(T operand, Order order, Where where = Where::current()) noexcept {
    return modified([](std::uint64_t a, std::uint64_t b) { return bits(T(value(a) + value(b))); },
                    operand, order, where);
  }
  T fetch_sub(T operand, Order order, Where where = Where::current()) noexcept {
    return modified([](std::uint64_t a, std::uint64_t b) { return bits(T(value(a) - value(b))); },
                    operand, order, where);
  }
  T fetch_and(T operand, Order order, Where where = Where::current()) noexcept {
    return modified([](std::uint64_t a, std::uint64_t b) { return a & b; }, operand, order, where);
  }
  T fetch_or(T operand, Order order, Where where = Where::current()) noexcept {
    return modified([](std::uint64_t a, std::uint64_t b) { return a | b; }, operand, order, where);
  }

 private:
  static std::uint64_t bits(T value) noexcept {
    std::uint64_t result = 0;
    std::memcpy(&result, &value, sizeof(T));
    return result;
  }
  static T value(std::uint64_t bits) noexcept {
    T result;
    std::memcpy(static_cast<void*>(&result), &bits, sizeof(T));
    return result;
  }
  T modified(Modify function, T operand, Order order, Where where) noexcept {
    if (is_active()) {
      return value(mc::modify(this, bits(value_), function, bits(operand), order, where));
    }
    return std::exchange(value_, value(function(bits(value_), bits(operand))));
  }
  bool exchanged_if(T& expected, T desired, bool weak, Order success, Order failure,
                    Where where) noexcept {
    if (!is_active()) {
      if (bits(value_) != bits(expected)) {
        expected = value_;
        return false;
      }
      value_ = desired;
      return true;
    }
    std::uint64_t seen = bits(expected);
    const bool done = mc::compare_exchange(this, bits(value_), seen, bits(desired), weak, success,
                                           failure, where);
    if (!done) expected = value(seen);
    return done;
  }

  T value_;  // initial value of a location older than the execution; never written during one
};

/// Plain memory that several threads use in turn. Two accesses must not race.
template <class T>
class Cell {
 public:
  Cell() : Cell(T{}) {}
  explicit Cell(T value) : value_(std::move(value)) {
    if (is_active()) cell_begins(this);
  }
  Cell(const Cell& other) : Cell(other.get()) {}
  Cell& operator=(const Cell& other) {
    set(other.get());
    return *this;
  }
  ~Cell() {
    if (is_active()) location_ends(this);
  }
  [[nodiscard]] T get(Where where = Where::current()) const {
    if (is_active()) cell_read(this, where);
    return value_;
  }
  void set(T value, Where where = Where::current()) {
    if (is_active()) cell_written(this, where);
    value_ = std::move(value);
  }

 private:
  T value_;
};

/// What a mutex and a condition have in common: the tester knows when they begin and end.
class Lockable {
 public:
  Lockable(const Lockable&) = delete;
  Lockable& operator=(const Lockable&) = delete;

 protected:
  constexpr Lockable() noexcept {
    if (!std::is_constant_evaluated() && is_active()) lockable_begins(this);
  }
  constexpr ~Lockable() {
    if (!std::is_constant_evaluated() && is_active()) location_ends(this);
  }
};

class Mutex : public Lockable {
 public:
  void lock(Where where = Where::current()) noexcept {
    if (is_active()) mc::lock(this, where);
  }
  [[nodiscard]] bool try_lock(Where where = Where::current()) noexcept {
    return !is_active() || mc::try_lock(this, where);
  }
  void unlock() noexcept {
    if (is_active()) mc::unlock(this);
  }

 private:
  std::uint64_t place_[5] = {};  // gives it an address of its own; as large as the system's mutex
};

template <class Lock>
class Guard {
 public:
  explicit Guard(Lock& lock, Where where = Where::current()) noexcept : lock_(lock) {
    lock_.lock(where);
  }
  ~Guard() { lock_.unlock(); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  Lock& lock_;
};

class Condition : public Lockable {
 public:
  /// False: the deadline has passed.
  bool wait(Mutex& mutex, bool has_deadline = false, Where where = Where::current()) {
    return mc::wait(this, &mutex, has_deadline, where);
  }
  void notify_one(Where where = Where::current()) { mc::notify(this, false, where); }
  void notify_all(Where where = Where::current()) { mc::notify(this, true, where); }

 private:
  char place_ = 0;
};

class Thread {
 public:
  Thread() noexcept = default;
  template <class Function>
  requires(!std::is_same_v<std::remove_cvref_t<Function>, Thread>) explicit Thread(
      Function&& function, Where where = Where::current())
      : number_(start(std::forward<Function>(function), where)) {}
  template <class Function, class Argument>
  Thread(Function&& function, Argument&& argument, Where where = Where::current())
      : number_(start([function = std::forward<Function>(function),
                       argument = std::forward<Argument>(
                           argument)]() mutable { function(std::move(argument)); },
                      where)) {}
  Thread(Thread&& other) noexcept : number_(std::exchange(other.number_, 0)) {}
  Thread& operator=(Thread&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Thread() {
    if (joinable() && is_active()) fail("a thread is destroyed that was not joined");
  }
  [[nodiscard]] bool joinable() const noexcept { return number_ != 0; }
  void join(Where where = Where::current()) {
    if (!joinable() && is_active()) fail("a thread is joined that is none, or was detached");
    mc::join(std::exchange(number_, 0), where);
  }
  void detach() noexcept { number_ = 0; }
  static unsigned hardware_concurrency() noexcept { return 2; }

 private:
  /// Takes callables that cannot be copied, which std::function does not.
  template <class Body>
  static int start(Body body, Where where) {
    auto owned = std::make_shared<Body>(std::move(body));
    return spawn([owned] { (*owned)(); }, where);
  }

  int number_ = 0;  // 0 is the body's thread
};

struct Clock {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = std::chrono::duration<rep, period>;
  using time_point = std::chrono::time_point<Clock>;
  static constexpr bool is_steady = true;
  static time_point now() noexcept { return time_point(duration(is_active() ? mc::now() : 0)); }
};

}  // namespace mc
