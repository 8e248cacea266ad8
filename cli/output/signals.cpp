#include "cli/output/signals.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>

#include "cli/output/exit_code.hpp"

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

std::atomic<bool> stderr_is_terminal{false};

// Makes only async-signal-safe calls.
void exit_at_once(int) {
  constexpr std::string_view kCleared = "\r\x1b[K";
  constexpr std::string_view kSaid = "taskbench: interrupted\n";
  const auto say = [](std::string_view text) {
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
  };
  // relaxed: it was set before the handler was installed.
  if (stderr_is_terminal.load(std::memory_order_relaxed)) say(kCleared);
  say(kSaid);
  ::_exit(static_cast<int>(ExitCode::interrupted));
}

void handle(int number, void (*handler)(int)) {
  struct sigaction before {};
  sigaction(number, nullptr, &before);
  if (before.sa_handler == SIG_IGN) return;
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;  // writing the results must not fail half-way with EINTR
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

}  // namespace

std::stop_token stop_on_signals() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) handle(number, request_stop);
  return stopping.get_token();
}

void exit_on_signals() {
  stderr_is_terminal.store(::isatty(STDERR_FILENO) == 1,
                           std::memory_order_relaxed);  // relaxed: see above
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) handle(number, exit_at_once);
}

}  // namespace taskbench::cli
