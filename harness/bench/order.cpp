#include "harness/bench/order.hpp"

#include <numeric>
#include <random>

namespace taskbench::harness {
namespace {

// The stack then begins anywhere within a page, which decides its place in the caches.
constexpr std::size_t kMaxPaddingBytes = 4096;

// Uniform in [0, bound). Does not use std::uniform_int_distribution or std::shuffle, whose results
// differ between standard libraries. The bias of the modulo is below bound / 2^64.
std::size_t draw_below(std::mt19937_64& random, std::size_t bound) { return random() % bound; }

}  // namespace

std::vector<std::size_t> interleaved_order(std::size_t cases, std::int64_t repetitions,
                                           std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::size_t> round(cases);
  std::iota(round.begin(), round.end(), std::size_t{0});
  std::vector<std::size_t> order;
  for (std::int64_t repetition = 0; repetition < repetitions; ++repetition) {
    // Fisher-Yates shuffle: from the back, each place gets one of the cases not yet placed.
    for (std::size_t left = cases; left > 1; --left) {
      std::swap(round[left - 1], round[draw_below(random, left)]);
    }
    order.insert(order.end(), round.begin(), round.end());
  }
  return order;
}

BlockPlan block_plan(std::uint64_t seed, int block) {
  using enum model::Side;
  std::seed_seq words{seed & 0xFFFFFFFF, seed >> 32, static_cast<std::uint64_t>(block)};
  std::mt19937_64 random(words);
  BlockPlan plan{};
  plan.sides = draw_below(random, 2) == 0 ? std::array{base, head, head, base}
                                          : std::array{head, base, base, head};
  plan.order_seed = random();
  plan.padding_bytes = draw_below(random, kMaxPaddingBytes);
  return plan;
}

std::size_t layout_of_block(std::uint64_t seed, int block, std::size_t count) {
  const auto turn = static_cast<std::size_t>(block);
  return interleaved_order(count, 1, seed ^ (turn / count))[turn % count];
}

}  // namespace taskbench::harness
