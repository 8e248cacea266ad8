#include "harness/machine/core_share.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>

#include "harness/os/cpu_affinity.hpp"
#include "harness/os/thread_time.hpp"

namespace taskbench::harness {
namespace {

using reports::model::CoreShare;
using reports::model::Fact;
using reports::model::Unknown;

constexpr double kWarmUp_s = 0.03;
constexpr double kLength_s = 0.3;
/// Length of a piece, which takes 30 to 60 µs: disturbances last for milliseconds.
constexpr int kRoundsOfPiece = 5'000;
constexpr std::size_t kFewestPieces = 100;
/// A piece slower than the best by more than this factor was slowed down. Interrupts are shorter.
constexpr double kSlow = 1.25;

/// Eight independent chains: a single one would leave room for a neighbour.
void work(std::array<std::uint64_t, 8>& chains) {
  for (int round = 0; round < kRoundsOfPiece; ++round) {
    for (std::uint64_t& chain : chains) {
      chain ^= chain << 13;
      chain ^= chain >> 7;
      chain += 1;
      asm volatile("" : "+r"(chain));
    }
  }
}

}  // namespace

Fact<CoreShare> core_share_of(std::vector<double> pieces_s) {
  std::ranges::sort(pieces_s);
  const double best_s = pieces_s.size() < kFewestPieces ? 0 : pieces_s[pieces_s.size() / 10];
  if (best_s <= 0) return Unknown{"the clock of a thread's CPU time is too coarse"};
  const auto slow = std::ranges::upper_bound(pieces_s, kSlow * best_s);
  if (slow == pieces_s.end()) return CoreShare{};
  const double all_s = std::accumulate(pieces_s.begin(), pieces_s.end(), 0.0);
  const double median_s = *(slow + (pieces_s.end() - slow) / 2);
  return CoreShare{std::accumulate(slow, pieces_s.end(), 0.0) / all_s, median_s / best_s};
}

Fact<CoreShare> probe_core_share(const std::stop_token& stop) {
  const int cpu = ::sched_getcpu();
  std::optional<ScopedBinding> binding;
  if (cpu >= 0) binding.emplace(static_cast<unsigned>(cpu));
  std::array<std::uint64_t, 8> chains{1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<double> pieces_s;
  const double begin_s = thread_cpu_s();
  for (double now_s = begin_s; now_s < begin_s + kWarmUp_s + kLength_s;) {
    if (stop.stop_requested()) return Unknown{"interrupted"};
    work(chains);
    const double end_s = thread_cpu_s();
    if (now_s > begin_s + kWarmUp_s) pieces_s.push_back(end_s - now_s);
    now_s = end_s;
  }
  return core_share_of(std::move(pieces_s));
}

}  // namespace taskbench::harness
