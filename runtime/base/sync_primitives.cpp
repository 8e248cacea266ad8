#include "runtime/base/sync_primitives.hpp"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>

namespace taskbench::rt::base {

#if !defined(TASKBENCH_TSAN)

bool prepare_heavy_barrier() noexcept {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

void heavy_barrier() noexcept {
  // Cannot fail once registered; a light barrier without its other half would lose wake-ups.
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0) std::abort();
}

#else

// The thread sanitizer would not see the order that membarrier establishes.
bool prepare_heavy_barrier() noexcept { return false; }
void heavy_barrier() noexcept { std::abort(); }

#endif

void name_this_thread(const char* name) noexcept { pthread_setname_np(pthread_self(), name); }

bool start_background_thread(const char* name, void (*run)() noexcept) noexcept {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the new thread inherits it
  bool started = true;
  try {
    Thread([=] {
      name_this_thread(name);
      run();
    }).detach();
  } catch (...) {
    started = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

void sleep_for(Clock::duration time) noexcept { std::this_thread::sleep_for(time); }

static_assert(sizeof(Atomic<std::uint32_t>) == sizeof(std::uint32_t));

bool futex_wait(const Atomic<std::uint32_t>& word, std::uint32_t expected,
                Clock::time_point deadline) noexcept {
  if (deadline == Clock::time_point::max()) {
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
    return true;
  }
  // FUTEX_WAIT_BITSET takes an absolute CLOCK_MONOTONIC time, which is what steady_clock counts.
  const auto since_epoch =
      std::chrono::duration_cast<std::chrono::nanoseconds>(deadline.time_since_epoch()).count();
  if (since_epoch <= 0) return false;
  timespec when{};
  when.tv_sec = static_cast<time_t>(since_epoch / 1'000'000'000);
  when.tv_nsec = static_cast<long>(since_epoch % 1'000'000'000);
  const long result = syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, expected, &when, nullptr,
                              FUTEX_BITSET_MATCH_ANY);
  return !(result == -1 && errno == ETIMEDOUT);
}

void futex_wake_one(const Atomic<std::uint32_t>* word) noexcept {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace taskbench::rt::base
