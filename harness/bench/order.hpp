// The order in which the repetitions of several cases run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "harness/os/names.hpp"
#include "reports/model/paired.hpp"

namespace taskbench::harness {

/// `repetitions` rounds, one after the other; each contains every case once, in an order drawn from
/// `seed`. A seed gives the same order everywhere.
///
/// Rounds, not one shuffle of everything, so that all cases have advanced equally at any moment:
/// drift of the machine affects all alike, also in an interrupted run. Not Google Benchmark's own
/// random interleaving, which cannot be seeded.
[[nodiscard]] std::vector<std::size_t> interleaved_order(std::size_t cases,
                                                         std::int64_t repetitions,
                                                         std::uint64_t seed);

/// The random choices for a block of a paired trial.
struct BlockPlan {
  std::array<model::Side, model::kBlockSize> sides;  ///< ABBA or BAAB
  std::uint64_t order_seed;   ///< for the order of the benchmarks in each of its processes
  std::size_t padding_bytes;  ///< the size by which each environment grows
};

/// The plan of block number `block`, drawn from `seed`; the same everywhere, also for a resumed
/// trial. Drift that is linear in time cancels within a block, since both sides have the same mean
/// position.
[[nodiscard]] BlockPlan block_plan(std::uint64_t seed, int block);

/// The layout, from 0 to `count` - 1, of a program in a block. Each comes once before any is
/// repeated, in an order drawn from `seed`. Programs with equally many layouts get the same ones.
[[nodiscard]] std::size_t layout_of_block(std::uint64_t seed, int block, std::size_t count);

}  // namespace taskbench::harness
