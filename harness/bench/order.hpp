// In which order the repetitions of several cases run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "reports/model/paired.hpp"

namespace taskbench::harness {

/// `repetitions` rounds one after the other; each holds every case once, in an order drawn from
/// `seed`. The same seed gives the same order everywhere.
///
/// Rounds, rather than one shuffle of everything: the cases then stay level at any moment, so that
/// drift of the machine falls on all alike and an interrupted run has them equally far. Drawn here,
/// rather than by Google Benchmark's own random interleaving: that one cannot be seeded.
[[nodiscard]] std::vector<std::size_t> interleaved_order(std::size_t cases,
                                                         std::int64_t repetitions,
                                                         std::uint64_t seed);

/// What is drawn for a block of a paired trial.
struct BlockPlan {
  std::array<reports::model::Side, reports::model::kBlockSize> sides;  ///< ABBA or BAAB
  std::uint64_t order_seed;   ///< of the order of the benchmarks in each of its processes
  std::size_t padding_bytes;  ///< that the environment of each grows by
};

/// The plan of block number `block`, drawn from `seed`; the same everywhere and for a trial that is
/// resumed. Drift that is linear in time cancels within a block, since both sides have the same
/// mean position.
[[nodiscard]] BlockPlan block_plan(std::uint64_t seed, int block);

}  // namespace taskbench::harness
