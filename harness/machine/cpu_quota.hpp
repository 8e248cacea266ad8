// The CPU quota of this process's control groups, versions 1 and 2.
#pragma once

#include <cstdint>

#include "harness/os/names.hpp"
#include "reports/model/doctor.hpp"

namespace taskbench::harness {

/// The lowest quota of the process's own group and of all visible groups above it; a container sees
/// only its own. `root` is the folder that contains /proc and /sys.
[[nodiscard]] model::Fact<model::CpuQuota> probe_cpu_quota(const fs::path& root = "/");

/// The number of periods in which the groups with a quota were throttled because it was used up,
/// since they were created. 0 without a quota.
[[nodiscard]] model::Fact<std::int64_t> count_quota_throttles(const fs::path& root = "/");

}  // namespace taskbench::harness
