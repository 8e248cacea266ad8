// The least that anything can cost on this machine: what times are to be compared with.
#pragma once

#include <stop_token>
#include <vector>

#include "reports/model/doctor.hpp"

namespace taskbench::harness {

/// Measures, in this order: clock_resolution, clock_step, clock_cost, locked_instruction,
/// timer_jitter and wake_up. Takes about half a second. What could not be measured has no samples
/// and says why; when `stop` is set, that is all that remains.
[[nodiscard]] std::vector<reports::model::FloorFigure> measure_floor(const std::stop_token& stop);

}  // namespace taskbench::harness
