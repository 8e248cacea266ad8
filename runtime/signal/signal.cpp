#include "runtime/signal/signal.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "runtime/base/sync_primitives.hpp"

// A Signal is an eventfd to which the handler writes: one of the few things that a signal handler
// may do. It finds the descriptors in a table of fixed size.
//
// A descriptor that a handler is about to write to is not closed: the story of two threads
//   handler:  handlers += 1;  read the place in the table
//   remover:  clear it;       read handlers
// All four are seq_cst: the handler finds the place empty, or the remover sees the handler, and
// waits for it.
namespace taskbench::rt::signal {
namespace {

/// A listener: the signal's number in the upper half, the descriptor in the lower; 0: none.
using Place = base::Atomic<std::uint64_t>;

struct Handled {
  unsigned listeners = 0;
  struct sigaction before = {};
};

struct Table {
  std::array<Place, kMostSignals> places{};
  base::Atomic<std::uint32_t> handlers{0};  // that are running
  base::Mutex mutex;
  std::array<Handled, NSIG> handled TASKBENCH_GUARDED_BY(mutex);
};

/// Never destroyed: a signal may come until the process has ended.
Table& table() noexcept {
  static Table& kTable = *new Table;
  return kTable;
}

std::uint64_t place_of(int number, int descriptor) noexcept {
  return static_cast<std::uint64_t>(number) << 32 | static_cast<std::uint32_t>(descriptor);
}

void handle(int number) {
  const int error = errno;
  Table& all = table();
  // seq_cst: the handler's half of the story at the top
  all.handlers.fetch_add(1, base::seq_cst);
  for (const Place& each : all.places) {
    // seq_cst: the second step of the handler in that story
    const std::uint64_t place = each.load(base::seq_cst);
    if (place >> 32 != static_cast<std::uint64_t>(number)) continue;
    const std::uint64_t one = 1;
    static_cast<void>(
        !::write(static_cast<int>(static_cast<std::uint32_t>(place)), &one, sizeof(one)));
  }
  // release: pairs with the load in clear(): the descriptor is closed after the write
  all.handlers.fetch_sub(1, base::release);
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

/// Takes a listener out. Its descriptor may be closed afterwards.
void clear(Table& all, Place& place) noexcept {
  // seq_cst: the remover's half of the story at the top
  place.store(0, base::seq_cst);
  // seq_cst: the second step of the remover in that story
  while (all.handlers.load(base::seq_cst) != 0) base::yield_thread();
}

AsyncFd listen(int number) {
  refuse_errors(number);
  net::detail::Descriptor made(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (made.get() < 0) throw_failure(errno, number);
  AsyncFd events = AsyncFd::own(std::move(made));
  Table& all = table();
  const base::LockGuard lock(all.mutex);
  // relaxed: changed under the mutex alone
  const auto place = std::ranges::find_if(
      all.places, [](const Place& each) { return each.load(base::relaxed) == 0; });
  if (place == all.places.end()) {
    throw std::system_error(EMFILE, std::system_category(), "too many signals are waited for");
  }
  Handled& handled = all.handled[static_cast<std::size_t>(number)];
  // Before the handler is there: a signal that it gets and that finds no listener would be lost.
  // seq_cst: like the store in clear()
  place->store(place_of(number, events.descriptor()), base::seq_cst);
  if (handled.listeners == 0) {
    struct sigaction action = {};
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART;
    sigfillset(&action.sa_mask);
    if (sigaction(number, &action, &handled.before) != 0) {
      const int error = errno;
      clear(all, *place);
      throw_failure(error, number);
    }
  }
  ++handled.listeners;
  return events;
}

void remove(int number, int descriptor) noexcept {
  Table& all = table();
  const base::LockGuard lock(all.mutex);
  // relaxed: changed under the mutex alone
  const auto place = std::ranges::find_if(all.places, [&](const Place& each) {
    return each.load(base::relaxed) == place_of(number, descriptor);
  });
  Handled& handled = all.handled[static_cast<std::size_t>(number)];
  if (--handled.listeners == 0) {
    struct sigaction now = {};
    sigaction(number, nullptr, &now);
    if (now.sa_handler == handle) sigaction(number, &handled.before, nullptr);
  }
  clear(all, *place);
}

}  // namespace

Signal::Signal(int number) : number_(number), events_(listen(number)) {}

Signal::~Signal() { remove(number_, events_.descriptor()); }

}  // namespace taskbench::rt::signal
