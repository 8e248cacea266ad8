// The available schedulers.
#pragma once

#include <span>
#include <string_view>

#include "runtime/base/shared.hpp"
#include "runtime/scheduler/options.hpp"

namespace taskbench::rt {

namespace scheduler {
class Engine;
}

/// A scheduler that Runtime::Builder::scheduler() can choose by name.
struct SchedulerInfo {
  std::string_view name;
  std::string_view summary;
  bool single_worker = false;   ///< has exactly one worker
  bool runs_on_caller = false;  ///< tasks run on the thread that calls block_on
  /// The same program and seed give the same schedule, as long as no other thread takes part.
  bool repeatable = false;
  /// Makes the engine; `options.workers` > 0. Throws std::system_error when the system gives no
  /// more threads.
  base::Ref<scheduler::Engine> (*make)(RuntimeOptions options);
};

/// All schedulers; the first is the default.
[[nodiscard]] std::span<const SchedulerInfo> schedulers() noexcept;

/// The scheduler of that name, or nullptr.
[[nodiscard]] const SchedulerInfo* find_scheduler(std::string_view name) noexcept;

}  // namespace taskbench::rt
