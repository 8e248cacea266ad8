#include "runtime/signal/signal.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "runtime/base/sync_primitives.hpp"
#include "runtime/signal/listeners.hpp"

// A Signal is an eventfd to which the handler writes: one of the few things that a signal handler
// may do. It finds the descriptors in a table of fixed size (listeners.hpp).
namespace taskbench::rt::signal {
namespace {

struct Handled {
  unsigned listeners = 0;
  struct sigaction before = {};
};

struct Table {
  Listeners<kMostSignals> listeners;  // unguarded: changed under the mutex, told by handlers
  base::Mutex mutex;
  std::array<Handled, NSIG> handled TASKBENCH_GUARDED_BY(mutex);
};

/// Never destroyed: a signal may come until the process has ended.
Table& table() noexcept {
  static Table& kTable = *new Table;
  return kTable;
}

void handle(int number) {
  const int error = errno;
  table().listeners.tell(number, [](int descriptor) {
    const std::uint64_t one = 1;
    static_cast<void>(!::write(descriptor, &one, sizeof(one)));
  });
  errno = error;
}

void refuse_errors(int number) {
  constexpr std::array kNever{SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
  if (number > 0 && number < NSIG && std::ranges::find(kNever, number) == kNever.end()) return;
  throw std::invalid_argument("signal " + std::to_string(number) + " cannot be waited for");
}

[[noreturn]] void throw_failure(int error, int number) {
  throw std::system_error(error, std::system_category(),
                          "cannot wait for signal " + std::to_string(number));
}

AsyncFd listen(int number) {
  refuse_errors(number);
  net::detail::Descriptor made(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (made.get() < 0) throw_failure(errno, number);
  AsyncFd events = AsyncFd::own(std::move(made));
  Table& all = table();
  const base::LockGuard lock(all.mutex);
  // Before the handler is there: a signal that it gets and that finds no listener would be lost.
  if (!all.listeners.add(number, events.descriptor())) {
    throw std::system_error(EMFILE, std::system_category(), "too many signals are waited for");
  }
  Handled& handled = all.handled[static_cast<std::size_t>(number)];
  if (handled.listeners == 0) {
    struct sigaction action = {};
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART;
    sigfillset(&action.sa_mask);
    if (sigaction(number, &action, &handled.before) != 0) {
      const int error = errno;
      all.listeners.remove(number, events.descriptor());
      throw_failure(error, number);
    }
  }
  ++handled.listeners;
  return events;
}

void remove(int number, int descriptor) noexcept {
  Table& all = table();
  const base::LockGuard lock(all.mutex);
  Handled& handled = all.handled[static_cast<std::size_t>(number)];
  if (--handled.listeners == 0) {
    struct sigaction now = {};
    sigaction(number, nullptr, &now);
    if (now.sa_handler == handle) sigaction(number, &handled.before, nullptr);
  }
  all.listeners.remove(number, descriptor);
}

}  // namespace

Signal::Signal(int number) : number_(number), events_(listen(number)) {}

Signal::~Signal() { remove(number_, events_.descriptor()); }

}  // namespace taskbench::rt::signal
