// The costs on the machine that this program runs on, as far as two CPUs show them.
#pragma once

namespace sim {

/// Prints each cost as an argument of --cost. Takes about five seconds.
void measure_costs();

}  // namespace sim
