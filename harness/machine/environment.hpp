// Finds out on which machine, and with which build, a run is made.
#pragma once

#include "harness/os/names.hpp"
#include "reports/model/run.hpp"

namespace taskbench::harness {

/// Reads /proc, /sys and the build's own constants. `executable` is argv[0] as given. What cannot
/// be found out stays empty; nothing throws. `workloads_version` is for who measures workloads.
[[nodiscard]] model::Environment probe_environment(std::string executable,
                                                   std::string_view workloads_version = {});

/// "none", "kvm", "xen", … as probe_environment() reports it; empty if it could not be found out.
[[nodiscard]] std::string hypervisor();

}  // namespace taskbench::harness
