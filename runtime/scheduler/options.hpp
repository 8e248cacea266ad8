// What a runtime can be asked to be, whichever scheduler it has.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace taskbench::rt {

struct RuntimeOptions {
  unsigned workers = 0;                  ///< 0: one per CPU that the process may use
  std::uint32_t injector_interval = 61;  ///< polls between two looks at the injector
  bool lifo_slot = true;
  std::uint64_t seed = 0;
  std::uint32_t trace_events = 0;  ///< kept for each worker; 0: nothing is traced
  std::string thread_name = "taskbench-worker";
  // Of a worker's thread: neither is called where the workers have none of their own.
  std::function<void(unsigned worker)> on_thread_start;  ///< on the worker, before its first task
  std::function<void(unsigned worker)> on_thread_stop;   ///< on the worker, after its last task
};

}  // namespace taskbench::rt
