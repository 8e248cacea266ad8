#include "cli/signals.hpp"

#include <csignal>

namespace taskbench::cli {
namespace {

std::atomic<bool> stop_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may not take a lock");

// Only async-signal-safe calls. Putting these two back to their defaults is what makes the
// second one deadly, also a SIGTERM after a SIGINT. SIGHUP stays caught: a terminal that goes away
// sends it twice, by the shell and by the kernel.
void request_stop(int) {
  // relaxed: the flag is all that is told; nothing else is read by whoever sees it.
  stop_requested.store(true, std::memory_order_relaxed);
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

void handle(int number) {
  struct sigaction before {};
  sigaction(number, nullptr, &before);
  if (before.sa_handler == SIG_IGN) return;
  struct sigaction action {};
  action.sa_handler = request_stop;
  action.sa_flags = SA_RESTART;  // writing the results must not fail half-way with EINTR
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

}  // namespace

const std::atomic<bool>& stop_on_signals() {
  handle(SIGINT);
  handle(SIGTERM);
  handle(SIGHUP);
  return stop_requested;
}

}  // namespace taskbench::cli
