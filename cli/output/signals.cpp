#include "cli/output/signals.hpp"

#include <csignal>

namespace taskbench::cli {
namespace {

std::stop_source stopping;

// Calls only async-signal-safe functions. SIGINT and SIGTERM are reset, so that a second one kills.
// SIGHUP stays caught, since closing a terminal sends it twice: from the shell and from the kernel.
void request_stop(int) {
  // request_stop() is safe in a handler: without callbacks, and none is ever registered, it is one
  // exchange.
  stopping.request_stop();
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

void handle(int number) {
  struct sigaction before {};
  sigaction(number, nullptr, &before);
  if (before.sa_handler == SIG_IGN) return;
  struct sigaction action {};
  action.sa_handler = request_stop;
  action.sa_flags = SA_RESTART;  // writing results must not fail midway with EINTR
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

}  // namespace

std::stop_token stop_on_signals() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) handle(number);
  // While it is ignored, the kernel discards the status and the CPU time of each child.
  std::signal(SIGCHLD, SIG_DFL);
  return stopping.get_token();
}

}  // namespace taskbench::cli
