#include "cli/output/signals.hpp"

#include <csignal>

namespace taskbench::cli {
namespace {

std::stop_source stopping;

// Makes only async-signal-safe calls. Resetting SIGINT and SIGTERM makes the second of either
// deadly. SIGHUP stays caught: when a terminal goes away it is sent twice, by the shell and by the
// kernel.
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
  action.sa_flags = SA_RESTART;  // writing the results must not fail half-way with EINTR
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

}  // namespace

std::stop_token stop_on_signals() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) handle(number);
  return stopping.get_token();
}

}  // namespace taskbench::cli
