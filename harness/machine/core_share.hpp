// Whether somebody else uses the other half of the core: another hyperthread, which a virtual
// machine does not show, or another core of a pair that shares its units.
#pragma once

#include <stop_token>
#include <vector>

#include "reports/model/doctor.hpp"

namespace taskbench::harness {

/// Has one CPU do the same work again and again, many independent operations at once, and looks how
/// its CPU time scatters. Takes a third of a second of it. Not known if `stop` is requested
/// meanwhile, or if the clock is too coarse.
[[nodiscard]] reports::model::Fact<reports::model::CoreShare> probe_core_share(
    const std::stop_token& stop);

/// What the times of equal pieces of work say, in s. Whoever is there all the time is not seen: the
/// best tenth is what the others are compared with.
[[nodiscard]] reports::model::Fact<reports::model::CoreShare> core_share_of(
    std::vector<double> pieces_s);

}  // namespace taskbench::harness
