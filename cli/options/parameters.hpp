// `--param NAME=VALUE` and `--param WORKLOAD.NAME=VALUE`.
#pragma once

#include "cli/names.hpp"
#include "workloads/workload.hpp"

namespace taskbench::cli {

/// The parameters of every workload of `chosen`, in that order: the defaults, overridden by the
/// plain assignments, overridden by the scoped ones. Throws UsageError for an assignment that is
/// ill-formed, given twice, out of range, or that no chosen workload can take.
[[nodiscard]] std::vector<workloads::ParameterValues> parse_parameters(
    std::span<const workloads::Workload* const> chosen, const Strings& assignments);

}  // namespace taskbench::cli
