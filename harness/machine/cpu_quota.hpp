// How much CPU time the control groups of this process allow, version 1 and 2.
#pragma once

#include <cstdint>
#include <filesystem>

#include "reports/model/doctor.hpp"

namespace taskbench::harness {

/// The tightest quota of the process's own group and of all above it that can be seen from here; a
/// container sees no further than its own. `root` is where /proc and /sys are looked for.
[[nodiscard]] reports::model::Fact<reports::model::CpuQuota> probe_cpu_quota(
    const std::filesystem::path& root = "/");

/// In how many periods the groups with a quota were stopped for having used it up, since they were
/// made. 0 without a quota.
[[nodiscard]] reports::model::Fact<std::int64_t> count_quota_throttles(
    const std::filesystem::path& root = "/");

}  // namespace taskbench::harness
