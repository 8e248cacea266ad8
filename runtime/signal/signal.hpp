// rt::signal: the signals of the process, for tasks to wait for: SIGINT and SIGTERM for a shutdown
// in good order, SIGHUP for reading a configuration again.
//
//   rt::signal::Signal interrupt(SIGINT);
//   co_await interrupt.next();
//
// While a Signal of a number exists, the runtime's handler is installed for it; when the last one
// is destroyed, the previous handler is restored, unless another was installed meanwhile. Every
// Signal of the number gets each signal, in every runtime.
//
// Threads: as with an AsyncFd, one task waits at a time.
#pragma once

#include <unistd.h>

#include <cstdint>

#include "runtime/net/async_fd.hpp"

namespace taskbench::rt::signal {

class Signal {
 public:
  /// Listens from here on, in the runtime of the calling thread. Throws std::logic_error outside of
  /// one, std::invalid_argument for a signal that cannot be handled or reports an error of the
  /// program (SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGFPE, SIGILL), and std::system_error when there
  /// are no more descriptors, or already kMostSignals.
  explicit Signal(int number);
  ~Signal();
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  /// co_await waits for the signal and returns how often it has arrived since the last await, > 0;
  /// earlier arrivals count. POSIX merges signals that arrive while one of their number is pending.
  /// Cancellation-safe.
  [[nodiscard]] auto next() {
    return events_.read_with([](int descriptor) -> std::int64_t {
      std::uint64_t count = 0;
      return ::read(descriptor, &count, sizeof(count)) < 0 ? -1 : static_cast<std::int64_t>(count);
    });
  }

 private:
  const int number_;
  AsyncFd events_;
};

/// The most Signals at one time, of all numbers and runtimes together.
inline constexpr unsigned kMostSignals = 256;

}  // namespace taskbench::rt::signal
