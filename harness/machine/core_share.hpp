// Detects whether someone else uses the other half of the core: another hyperthread, which a
// virtual machine does not show, or another core of a pair that shares its units.
#pragma once

#include <stop_token>
#include <vector>

#include "reports/model/doctor.hpp"

namespace taskbench::harness {

/// Repeats the same work on one CPU, many independent operations at once, and examines the scatter
/// of its CPU time. Takes a third of a second of it. Not known if `stop` is requested meanwhile, or
/// if the clock is too coarse.
[[nodiscard]] reports::model::Fact<reports::model::CoreShare> probe_core_share(
    const std::stop_token& stop);

/// Evaluates the times of equal pieces of work, in s. A permanent neighbour goes unnoticed: the
/// best tenth is the reference for the others.
[[nodiscard]] reports::model::Fact<reports::model::CoreShare> core_share_of(
    std::vector<double> pieces_s);

}  // namespace taskbench::harness
