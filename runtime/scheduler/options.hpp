// The options of a runtime, whichever scheduler it has.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <string_view>

namespace taskbench::rt {

struct RuntimeOptions {
  unsigned workers = 0;                  ///< 0: one per CPU that the process may use
  std::uint32_t injector_interval = 61;  ///< polls between looks at the injector
  bool lifo_slot = true;
  std::uint64_t seed = 0;
  std::uint32_t trace_events = 0;  ///< kept for each worker; 0: nothing is traced
  std::string thread_name = "taskbench-worker";
  std::uint32_t max_blocking_threads = 512;
  std::chrono::nanoseconds blocking_idle_timeout = std::chrono::seconds{10};
  // Hooks of a worker's thread: not called where workers have no threads of their own.
  std::function<void(unsigned worker)> on_thread_start;  ///< on the worker, before its first task
  std::function<void(unsigned worker)> on_thread_stop;   ///< on the worker, after its last task
  /// Gets each exception that ended a task and is never taken; empty: it is written to stderr.
  std::function<void(std::exception_ptr)> on_unhandled_exception;

  /// `thread_name`, "-" and `suffix`, with `thread_name` cut: Linux takes 15 characters and the
  /// terminator.
  [[nodiscard]] std::string name_of_thread(std::string_view suffix) const {
    const std::size_t room = 14 - std::min<std::size_t>(suffix.size(), 14);
    return thread_name.substr(0, room).append("-").append(suffix);
  }
};

}  // namespace taskbench::rt
