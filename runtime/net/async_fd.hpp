// rt::AsyncFd: any descriptor that can be polled, for tasks to wait on: pipes, eventfds, inotify,
// pidfds, serial lines, sockets of other libraries.
//
//   rt::AsyncFd changes = rt::AsyncFd::own(inotify_init1(IN_CLOEXEC));
//   const std::size_t size = co_await changes.read(buffer);
//
// Threads: as in io.hpp: one task may read while another writes. The AsyncFd must not be moved
// while an operation is under way, and must outlive it.
//
// An AsyncFd belongs to the runtime of the task that made it, which watches the descriptor until
// the AsyncFd or the runtime is destroyed. Tasks of other runtimes may use it too; once its runtime
// has ended, an operation that waits, or would have to, fails with std::logic_error.
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

class AsyncFd;

namespace net::detail {

/// poll(2) with a time-out of zero.
template <Direction direction>
struct AskWhetherReady : Call<const AsyncFd, direction> {
  Attempt attempt(const AsyncFd& fd, bool hung_up) const noexcept;
  void take(const AsyncFd&) const noexcept {}
};

template <Direction direction, class Function, class Given = std::invoke_result_t<Function&, int>>
struct CallUntilReady : Call<const AsyncFd, direction> {
  using Result = std::invoke_result_t<Function&, int>;

  CallUntilReady(const char* name_, Function function_)
      : name(name_), function(std::move(function_)) {}
  Attempt attempt(const AsyncFd& fd, bool) noexcept;
  Given take(const AsyncFd&) {
    // Taken out: the operation may be awaited again.
    if (thrown) std::rethrow_exception(std::exchange(thrown, nullptr));
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
  template <net::Direction direction, class... Given, class Function>
  [[nodiscard]] auto call(const char* name, Function function) {
    return operation(
        net::detail::CallUntilReady<direction, Function, Given...>(name, std::move(function)));
  }

 public:
  /// Takes the descriptor over: makes it non-blocking, and closes it in the end, even if this call
  /// throws. Throws std::logic_error outside of a runtime, and std::system_error for a descriptor
  /// that cannot be watched, such as a file on disk.
  [[nodiscard]] static AsyncFd own(int descriptor);
  /// Takes over a descriptor that is non-blocking already, which saves system calls. If this call
  /// throws, the caller still has it.
  [[nodiscard]] static AsyncFd own(net::detail::Descriptor&& non_blocking);
  /// Watches a descriptor that its owner closes, after this object is gone. Its flags stay as they
  /// are: if it is a blocking descriptor, a call may hold up the worker.
  [[nodiscard]] static AsyncFd borrow(int descriptor);

  AsyncFd(AsyncFd&& other) noexcept : registration_(std::exchange(other.registration_, nullptr)) {}
  AsyncFd& operator=(AsyncFd&& other) noexcept {
    if (this != &other) {
      end();
      registration_ = std::exchange(other.registration_, nullptr);
    }
    return *this;
  }
  ~AsyncFd() { end(); }

  [[nodiscard]] int descriptor() const noexcept { return registration().descriptor(); }

  /// Gives the descriptor back, no longer watched; the caller closes it if it was owned.
  [[nodiscard]] int release() && noexcept;

  /// co_await waits until a call would not block: there is data, room, the end or an error. It asks
  /// poll(2), so any code may make the calls. Cancellation-safe.
  [[nodiscard]] auto readable() {
    return operation(net::detail::AskWhetherReady<net::Direction::read>{});
  }
  [[nodiscard]] auto writable() {
    return operation(net::detail::AskWhetherReady<net::Direction::write>{});
  }

  /// co_await calls `function(descriptor)` until it returns something other than -1 with EAGAIN,
  /// and returns that; -1 with another errno throws std::system_error. Cancellation-safe, as a call
  /// that fails has done nothing. In a runtime for tests (rt::testing) sockets are not descriptors
  /// of the system, so its calls fail with EBADF; a stream's own read() and write() work.
  template <class Function>
  [[nodiscard]] auto read_with(Function function) {
    return call<net::Direction::read>("read from", std::move(function));
  }
  template <class Function>
  [[nodiscard]] auto write_with(Function function) {
    return call<net::Direction::write>("write to", std::move(function));
  }

  /// read(2) and write(2): co_await returns how many bytes were read, 0 at the end of a stream, or
  /// written. Cancellation-safe.
  [[nodiscard]] auto read(net::MutableBytes into) {
    return call<net::Direction::read, std::size_t>(
        "read from", [into](int fd) { return ::read(fd, into.data, into.size); });
  }
  [[nodiscard]] auto write(net::ConstBytes from) {
    return call<net::Direction::write, std::size_t>(
        "write to", [from](int fd) { return ::write(fd, from.data, from.size); });
  }

  // For types built on this one: operations as in io.hpp.
  template <class Call>
  [[nodiscard]] net::detail::Operation<Call> operation(Call call) const {
    return net::detail::Operation<Call>(*this, std::move(call));
  }
  [[nodiscard]] driver::Registration& registration() const noexcept {
    TASKBENCH_ASSERT(registration_ != nullptr, "a descriptor that was moved from cannot be used");
    return *registration_;
  }

 private:
  explicit AsyncFd(int descriptor);

  void end() noexcept;

  driver::Registration* registration_;
};

template <net::Direction direction, class Function, class Given>
net::detail::Attempt net::detail::CallUntilReady<direction, Function, Given>::attempt(
    const AsyncFd& fd, bool) noexcept {
  int failure = 0;
  try {
    do {
      result = function(fd.descriptor());
      failure = result == Result(-1) ? errno : 0;
    } while (failure == EINTR);
  } catch (...) {
    thrown = std::current_exception();
  }
  error = failure;
  return failure == EAGAIN ? Attempt::again : Attempt::done;
}

}  // namespace taskbench::rt
