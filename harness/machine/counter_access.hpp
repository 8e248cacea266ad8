// Whether perf may count here, and what: tested, not inferred. Settings alone are not enough: a
// container may forbid what the kernel permits, and a virtual machine may have no counters.
#pragma once

#include "harness/os/names.hpp"
#include "reports/model/doctor.hpp"

namespace taskbench::harness {

enum class CountedEvent {
  task_clock,  ///< counted by the kernel
  cycles,      ///< counted by the CPU
};

/// Opens a counter of this thread and closes it again. Returns 0, or errno.
using EventOpener = std::function<int(CountedEvent, bool user_only)>;

/// An EventOpener that uses perf_event_open(2).
[[nodiscard]] int open_event(CountedEvent event, bool user_only);

/// `root` is the folder that contains /proc.
[[nodiscard]] model::Fact<model::CounterAccess> probe_counter_access(
    const fs::path& root = "/", const EventOpener& open = open_event);

}  // namespace taskbench::harness
