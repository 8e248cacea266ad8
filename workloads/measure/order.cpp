#include "workloads/measure/order.hpp"

#include <numeric>
#include <random>
#include <utility>

namespace taskbench::workloads::measure {
namespace {

// Uniform in [0, bound). Neither std::uniform_int_distribution nor std::shuffle, whose results
// differ between standard libraries. The modulo's bias is below bound / 2^64.
std::size_t draw_below(std::mt19937_64& random, std::size_t bound) { return random() % bound; }

}  // namespace

std::vector<std::size_t> interleaved_order(std::size_t cases, std::int64_t repetitions,
                                           std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::size_t> round(cases);
  std::iota(round.begin(), round.end(), std::size_t{0});
  std::vector<std::size_t> order;
  for (std::int64_t repetition = 0; repetition < repetitions; ++repetition) {
    // Fisher and Yates: from the back, each place takes one of those not yet placed.
    for (std::size_t left = cases; left > 1; --left) {
      std::swap(round[left - 1], round[draw_below(random, left)]);
    }
    order.insert(order.end(), round.begin(), round.end());
  }
  return order;
}

}  // namespace taskbench::workloads::measure
