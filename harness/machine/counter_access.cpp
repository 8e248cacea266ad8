#include "harness/machine/counter_access.hpp"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "harness/os/system_file.hpp"

namespace taskbench::harness {
namespace {

/// Tries to count with the kernel's part, and if that is not permitted without it, as perf does.
model::EventAccess access_to(CountedEvent event, const EventOpener& open) {
  model::EventAccess access;
  access.error = open(event, false);
  if (access.error != EACCES && access.error != EPERM) return access;
  const int with_kernel = access.error;
  access.error = open(event, true);
  access.user_only = access.error == 0;
  if (access.error != 0) access.error = with_kernel;
  return access;
}

}  // namespace

int open_event(CountedEvent event, bool user_only) {
  perf_event_attr attributes{};
  attributes.size = sizeof(attributes);
  const bool software = event == CountedEvent::task_clock;
  attributes.type = software ? PERF_TYPE_SOFTWARE : PERF_TYPE_HARDWARE;
  attributes.config = software ? static_cast<__u64>(PERF_COUNT_SW_TASK_CLOCK)
                               : static_cast<__u64>(PERF_COUNT_HW_CPU_CYCLES);
  attributes.disabled = 1;
  attributes.exclude_hv = 1;
  attributes.exclude_kernel = user_only ? 1 : 0;
  constexpr int kThisThread = 0;
  constexpr int kAnyCpu = -1;
  constexpr int kNoGroup = -1;
  const long descriptor = ::syscall(SYS_perf_event_open, &attributes, kThisThread, kAnyCpu,
                                    kNoGroup, PERF_FLAG_FD_CLOEXEC);
  if (descriptor < 0) return errno;
  ::close(static_cast<int>(descriptor));
  return 0;
}

model::Fact<model::CounterAccess> probe_counter_access(const fs::path& root,
                                                       const EventOpener& open) {
  model::CounterAccess access;
  if (const auto level = whole_number_in(root / "proc/sys/kernel/perf_event_paranoid")) {
    access.paranoid = static_cast<int>(*level);
  }
  access.software = access_to(CountedEvent::task_clock, open);
  access.hardware = access_to(CountedEvent::cycles, open);
  return access;
}

}  // namespace taskbench::harness
