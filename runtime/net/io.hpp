// The awaiter of every operation on a descriptor: tries the system call, and waits only if the call
// would block.
//
// Threads: an operation belongs to the task that awaits it, and is awaited by one coroutine at a
// time, also in branches of that task. Two may be under way on a descriptor at once, one in each
// direction. A second one in the same direction is refused with std::logic_error for as long as the
// first waits, even if both are branches of one task.
//
// The runtime of a descriptor may end before the descriptor, and while tasks of other runtimes use
// it. Operations that wait then, or would have to, fail with std::logic_error; others still work.
//
// Cancellation: an awaiter that is destroyed while it waits withdraws. It has made no call that
// moved a byte, or it would not wait; operations of several calls (read_exact, write_all) may have,
// and say so.
#pragma once

#include <sys/types.h>

#include <cerrno>
#include <coroutine>
#include <cstdint>
#include <utility>

#include "runtime/driver/registration.hpp"
#include "runtime/task/leaf.hpp"

namespace taskbench::rt::net {

enum class Direction : std::uint8_t { read, write };

namespace detail {

/// The result of an attempt.
enum class Attempt : std::uint8_t {
  again,      ///< would have to wait
  exhausted,  ///< done; the next attempt would have to wait
  done,       ///< done, or failed; the next attempt may succeed at once
};

/// Why an operation was not done.
enum class Refusal : std::uintptr_t {
  none,
  occupied,  ///< another operation waits for the same direction
  ended,     ///< it would have to wait, and the runtime has ended
};
[[noreturn]] void throw_refused(Refusal why);

/// One word: the task that the operation has registered in the readiness or, while none is
/// registered, why the operation was refused.
class Waiter {
 public:
  explicit Waiter(task::Header* task) noexcept : word_(reinterpret_cast<std::uintptr_t>(task)) {}
  explicit Waiter(Refusal why) noexcept : word_(static_cast<std::uintptr_t>(why)) {}

  [[nodiscard]] task::Header* task() const noexcept {
    return is_task() ? reinterpret_cast<task::Header*>(word_) : nullptr;
  }
  [[nodiscard]] Refusal refusal() const noexcept {
    return is_task() ? Refusal::none : Refusal{word_};
  }

 private:
  [[nodiscard]] bool is_task() const noexcept {
    return word_ > static_cast<std::uintptr_t>(Refusal::ended);
  }

  std::uintptr_t word_;
};

/// Base of the calls that an operation makes. A call has `Attempt attempt(Source&, bool lasting)`,
/// and `take(Source&)`, which returns the result or throws. `lasting`: only the system's EAGAIN
/// tells that the call would have to wait.
template <class On, Direction direction>
struct Call {
  using Source = On;
  static constexpr Direction kDirection = direction;
};

/// An operation on a Source, which has `registration()` and must not be moved meanwhile.
template <class Call>
class [[nodiscard]] Operation : private task::Leaf {
  using Source = typename Call::Source;

 public:
  Operation(Source& source, Call call)
      : Leaf(&Operation::poll_call), source_(source), call_(std::move(call)) {}
  ~Operation() {
    if (waiter_.task() != nullptr) withdraw();
  }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> coroutine) {
    return task::suspend_with_budget(*this, coroutine);
  }
  decltype(auto) await_resume() {
    if (waiter_.refusal() != Refusal::none) [[unlikely]]
      throw_refused(waiter_.refusal());
    return call_.take(source_);
  }

 private:
  using State = driver::Readiness::State;

  static bool poll_call(task::Leaf* leaf, task::Header* task) noexcept {
    return static_cast<Operation*>(leaf)->poll_once(task);
  }

  [[nodiscard]] driver::Readiness& readiness() const noexcept {
    driver::Registration& registration = source_.registration();
    return Call::kDirection == Direction::read ? registration.reading() : registration.writing();
  }

  void withdraw() noexcept {
    readiness().withdraw(waiter_.task());
    waiter_ = Waiter(Refusal::none);
  }
  bool refuse() noexcept {
    waiter_ = Waiter(Refusal::occupied);
    return true;
  }

  bool poll_once(task::Header* task) noexcept {
    driver::Readiness& ready = readiness();
    for (;;) {
      const State state = ready.take(waiter_.task());
      if (state == State::occupied) return refuse();
      if (state == State::no) {
        if (waiter_.task() == task) return false;
        if (waiter_.task() != nullptr) withdraw();  // the operation goes on in another task
        switch (ready.wait(task)) {
          case driver::Readiness::Wait::ready:
            continue;
          case driver::Readiness::Wait::waits:
            waiter_ = Waiter(task);
            return false;
          case driver::Readiness::Wait::refused:
            return refuse();
        }
      }
      waiter_ = Waiter(Refusal::none);  // the event that made it ready took the reference
      switch (call_.attempt(source_, state == State::lasting)) {
        case Attempt::again:
          if (state != State::closed) continue;
          waiter_ = Waiter(Refusal::ended);
          return true;
        case Attempt::exhausted:
          if (state == State::lasting) ready.give_back(state);
          return true;
        case Attempt::done:
          ready.give_back(state);
          return true;
      }
    }
  }

  Source& source_;
  // Keeps the task itself, since a losing branch of select() is gone before the operation that it
  // awaited.
  Waiter waiter_{Refusal::none};
  Call call_;
};

/// The final result of a system call, after interruptions.
struct Returned {
  ssize_t value;  ///< or minus errno

  [[nodiscard]] int error() const noexcept { return value < 0 ? static_cast<int>(-value) : 0; }
  [[nodiscard]] bool would_wait() const noexcept { return value == -EAGAIN; }
};

template <class Function>
Returned call_system(Function&& function) {
  for (;;) {
    const ssize_t value = function();
    if (value >= 0) return {value};
    if (errno != EINTR) return {-errno};
  }
}

}  // namespace detail
}  // namespace taskbench::rt::net
