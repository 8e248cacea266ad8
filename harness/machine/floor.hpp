// The least that operations can cost on this machine, for comparison with times.
#pragma once

#include "harness/os/names.hpp"
#include "reports/model/doctor.hpp"

namespace taskbench::harness {

/// Measures, in this order: clock_resolution, clock_step, clock_cost, locked_instruction,
/// timer_jitter and wake_up. Takes about half a second. A figure that could not be measured has no
/// samples and gives the reason; after a request to `stop`, that applies to all remaining figures.
[[nodiscard]] std::vector<model::FloorFigure> measure_floor(const std::stop_token& stop);

}  // namespace taskbench::harness
