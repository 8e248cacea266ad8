// rt::AsyncFd: any descriptor that can be polled, for tasks to wait on: pipes, eventfds, inotify,
// pidfds, serial lines, sockets of other libraries.
//
//   rt::AsyncFd changes = rt::AsyncFd::own(inotify_init1(IN_CLOEXEC));
//   const std::size_t size = co_await changes.read(buffer);
//
// Threads: as in io.hpp: one task may read while another writes. It stays where it is while an
// operation is under way, and outlives it.
//
// It belongs to the runtime of the task that made it, which watches it until it is destroyed. Tasks
// of other runtimes may use it meanwhile; what waits then, or would wait later, fails with
// std::logic_error.
#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <type_traits>
#include <utility>

#include "runtime/base/assert.hpp"
#include "runtime/net/buffers.hpp"
#include "runtime/net/descriptor.hpp"
#include "runtime/net/error.hpp"
#include "runtime/net/io.hpp"

namespace taskbench::rt {

namespace net::detail {

/// poll(2) with a limit of zero.
struct AskWhetherReady {
  Attempt attempt(int descriptor, bool hung_up) const noexcept;
  void take() const noexcept {}

  Direction direction;
};

template <class Function, class Given = std::invoke_result_t<Function&, int>>
struct CallUntilReady {
  using Result = std::invoke_result_t<Function&, int>;

  Attempt attempt(int descriptor, bool) noexcept {
    try {
      do {
        result = function(descriptor);
        error = result == Result(-1) ? errno : 0;
      } while (error == EINTR);
    } catch (...) {
      thrown = std::current_exception();
    }
    return error == EAGAIN || error == EWOULDBLOCK ? Attempt::again : Attempt::done;
  }
  Given take() {
    if (thrown) std::rethrow_exception(thrown);
    if (error != 0) throw_error(error, name, "a descriptor");
    return static_cast<Given>(result);
  }

  const char* name;
  Function function;
  Result result{};
  int error = 0;
  std::exception_ptr thrown{};
};

}  // namespace net::detail

class AsyncFd {
 public:
  /// Takes the descriptor over: makes it non-blocking, and closes it in the end, also when this
  /// throws. Throws std::logic_error outside of a runtime, and std::system_error for what cannot be
  /// watched, such as a file on a disk.
  [[nodiscard]] static AsyncFd own(int descriptor);
  /// The same for one that is non-blocking already, in a single call of the system.
  [[nodiscard]] static AsyncFd own(net::detail::Descriptor non_blocking);
  /// The same for one that somebody else closes, and not before this is gone. It is left as it is:
  /// if it is not non-blocking a call may hold up the worker.
  [[nodiscard]] static AsyncFd borrow(int descriptor);

  AsyncFd(AsyncFd&& other) noexcept
      : registration_(std::exchange(other.registration_, nullptr)), owned_(other.owned_) {}
  AsyncFd& operator=(AsyncFd&& other) noexcept {
    if (this != &other) {
      end();
      registration_ = std::exchange(other.registration_, nullptr);
      owned_ = other.owned_;
    }
    return *this;
  }
  ~AsyncFd() { end(); }

  [[nodiscard]] int descriptor() const noexcept { return registration().descriptor(); }

  /// Gives the descriptor back, which is no longer watched; the caller closes it if it was owned.
  [[nodiscard]] int release() && noexcept;

  /// co_await waits until a call would not have to wait, for data, room, the end or an error. It
  /// asks poll(2), so that it does not matter who makes the calls. Cancellation-safe.
  [[nodiscard]] auto readable() {
    return operation(net::Direction::read, net::detail::AskWhetherReady{net::Direction::read});
  }
  [[nodiscard]] auto writable() {
    return operation(net::Direction::write, net::detail::AskWhetherReady{net::Direction::write});
  }

  /// co_await calls `function(descriptor)` until it returns something else than -1 with EAGAIN, and
  /// returns that; -1 with another errno throws std::system_error. Cancellation-safe, as a call
  /// that fails has done nothing.
  template <class Function>
  [[nodiscard]] auto read_with(Function function) {
    return operation(net::Direction::read,
                     net::detail::CallUntilReady<Function>{"read from", std::move(function)});
  }
  template <class Function>
  [[nodiscard]] auto write_with(Function function) {
    return operation(net::Direction::write,
                     net::detail::CallUntilReady<Function>{"write to", std::move(function)});
  }

  /// read(2) and write(2): co_await returns how many bytes were read, 0 at the end of a stream, or
  /// written. Cancellation-safe.
  [[nodiscard]] auto read(net::MutableBytes into) {
    const auto call = [into](int fd) { return ::read(fd, into.data, into.size); };
    return operation(net::Direction::read,
                     net::detail::CallUntilReady<decltype(call), std::size_t>{"read from", call});
  }
  [[nodiscard]] auto write(net::ConstBytes from) {
    const auto call = [from](int fd) { return ::write(fd, from.data, from.size); };
    return operation(net::Direction::write,
                     net::detail::CallUntilReady<decltype(call), std::size_t>{"write to", call});
  }

  /// For what stands on this: an operation as in io.hpp.
  template <class Call>
  [[nodiscard]] net::detail::Operation<Call> operation(net::Direction direction, Call call) {
    return net::detail::Operation<Call>(registration(), direction, std::move(call));
  }

 private:
  AsyncFd(int descriptor, bool owned);

  [[nodiscard]] driver::Registration& registration() const noexcept {
    TASKBENCH_ASSERT(registration_ != nullptr, "a descriptor that was moved from cannot be used");
    return *registration_;
  }
  void end() noexcept;

  driver::Registration* registration_;
  bool owned_;
};

}  // namespace taskbench::rt
