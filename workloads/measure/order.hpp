// In which order the repetitions of several cases run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace taskbench::workloads::measure {

/// `repetitions` rounds one after the other; each holds every case once, in an order drawn from
/// `seed`. The same seed gives the same order everywhere.
///
/// Rounds, rather than one shuffle of everything: the cases then stay level at any moment, so that
/// drift of the machine falls on all alike and an interrupted run has them equally far. Drawn here,
/// rather than by Google Benchmark's own random interleaving: that one cannot be seeded.
[[nodiscard]] std::vector<std::size_t> interleaved_order(std::size_t cases,
                                                         std::int64_t repetitions,
                                                         std::uint64_t seed);

}  // namespace taskbench::workloads::measure
