// The awaiter of every operation on a descriptor: tries the system call, and waits only when that
// says that it would have to.
//
// Threads: an operation belongs to the task that awaits it. Two may be under way on a descriptor at
// once, one in each direction; a second one in the same direction is refused with std::logic_error.
//
// The runtime of a descriptor may end before it, and while tasks of other runtimes use it. What
// would have to wait then, or waits already, fails with std::logic_error; what need not is done.
//
// Cancellation: an awaiter that is destroyed while it waits withdraws. It has made no call that
// moved a byte, or it would not wait; operations of several calls (read_exact, write_all) say so.
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

/// What became of an attempt.
enum class Attempt : std::uint8_t {
  again,      ///< would have to wait
  exhausted,  ///< done; the next attempt would have to wait
  done,       ///< done, or failed; the next attempt may succeed at once
};

/// Why an operation was not done.
enum class Refusal : std::uint8_t {
  none,
  occupied,  ///< another task waits for the same direction
  ended,     ///< it would have to wait, and the runtime has ended
};
[[noreturn]] void throw_refused(Refusal why);

/// Base of the calls that an operation makes. A call has `Attempt attempt(Source&, bool lasting)`,
/// and `take(Source&)`, which returns the result or throws. `lasting`: only the system's EAGAIN
/// says that it would have to wait.
template <class On, Direction direction>
struct Call {
  using Source = On;
  static constexpr Direction kDirection = direction;

  int error = 0;                    ///< for the call's own use
  Refusal refusal = Refusal::none;  ///< for that of the operation
};

/// On what has `registration()`, and stays where it is meanwhile.
template <class Call>
class [[nodiscard]] Operation : private task::Leaf {
  using Source = typename Call::Source;

 public:
  Operation(Source& source, Call call)
      : Leaf(&Operation::poll_call), source_(source), call_(std::move(call)) {}
  ~Operation() {
    if (waiter_ != nullptr) readiness().withdraw(waiter_);
  }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> coroutine) {
    return task::suspend_with_budget(*this, coroutine);
  }
  decltype(auto) await_resume() {
    if (call_.refusal != Refusal::none) [[unlikely]]
      throw_refused(call_.refusal);
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

  bool poll_once(task::Header* task) noexcept {
    driver::Readiness& ready = readiness();
    for (;;) {
      const State state = ready.take();
      if (state == State::no) {
        switch (ready.wait(task, waiter_ != nullptr)) {
          case driver::Readiness::Wait::ready:
            continue;
          case driver::Readiness::Wait::waits:
            waiter_ = task;
            return false;
          case driver::Readiness::Wait::refused:
            call_.refusal = Refusal::occupied;
            return true;
        }
      }
      waiter_ = nullptr;  // the event that made it ready took the reference
      switch (call_.attempt(source_, state == State::lasting)) {
        case Attempt::again:
          if (state != State::closed) continue;
          call_.refusal = Refusal::ended;
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
  // Was put into the readiness and may stand there still. Kept, as a branch of select() that lost
  // is gone before the operation that it awaited.
  task::Header* waiter_ = nullptr;
  Call call_;
};

/// What a system call returned, once it was not interrupted.
struct Returned {
  ssize_t value;
  int error;  ///< 0 unless value is -1

  [[nodiscard]] bool would_wait() const noexcept { return error == EAGAIN || error == EWOULDBLOCK; }
};

template <class Function>
Returned call_system(Function&& function) {
  for (;;) {
    const ssize_t value = function();
    if (value >= 0) return {value, 0};
    if (errno != EINTR) return {value, errno};
  }
}

}  // namespace detail
}  // namespace taskbench::rt::net
