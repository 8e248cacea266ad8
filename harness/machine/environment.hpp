// Finds the machine and the build of a run.
#pragma once

#include "harness/os/names.hpp"
#include "reports/model/run.hpp"

namespace taskbench::harness {

/// Reads /proc, /sys and the build's own constants. `executable` is argv[0] as given. Unknown facts
/// stay empty; nothing throws. `workloads_version` is for callers that measure workloads.
[[nodiscard]] model::Environment probe_environment(std::string executable,
                                                   std::string_view workloads_version = {});

/// The date and time in RFC 3339, as in probe_environment(); empty if unknown.
[[nodiscard]] std::string local_date();

/// "none", "kvm", "xen", … as in probe_environment(); empty if unknown.
[[nodiscard]] std::string hypervisor();

}  // namespace taskbench::harness
