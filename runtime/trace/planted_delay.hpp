// Artificial delays in the scheduler, in builds with TASKBENCH_PLANT, to measure what a regression
// gate can detect. In every other build they leave nothing in the machine code.
//
// The delay is a loop that keeps its core busy and touches no memory, as more instructions on that
// path would: it neither sleeps nor reads the clock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/base/sync_primitives.hpp"

namespace taskbench::rt {

enum class DelaySite : std::uint8_t {
  spawn,  ///< a task is handed to the scheduler for the first time
  yield,  ///< a poll has ended in yield_now()
  wake,   ///< a waker has found its task idle and is about to queue it
  steal,  ///< a worker has stolen tasks and is about to run the first
};

/// Names, in the order of DelaySite.
inline constexpr std::array<std::string_view, 4> kDelaySites{"spawn", "yield", "wake", "steal"};

#if defined(TASKBENCH_PLANT)
inline constexpr bool kPlantsDelays = true;
#else
inline constexpr bool kPlantsDelays = false;
#endif

/// Makes the events at `site` take `ns` longer from now on, on average, up to kMaxPlantedDelay_ns.
/// Takes about a millisecond, to time the loop. Call it before a runtime is built, and only if
/// kPlantsDelays (asserted).
void plant_delay(DelaySite site, double ns);

inline constexpr double kMaxPlantedDelay_ns = 1e6;

namespace trace {

#if defined(TASKBENCH_PLANT)

/// Rounds of the loop at each site. Plain: written before there are workers.
inline std::array<std::uint64_t, kDelaySites.size()> planted_rounds{};

inline void spend_rounds(std::uint64_t rounds) noexcept {
  // The compiler must believe that each round's value is used.
  for (; rounds != 0; --rounds) asm volatile("" : "+r"(rounds));
}

/// The least delay that a thread spends at once, in rounds. A few rounds would be hidden behind
/// other instructions that the core runs in parallel, or cost less than the mispredicted branch: so
/// owed rounds are gathered at each site until they are long compared with both.
inline constexpr std::uint64_t kLeastRounds = 600;
struct OwedRounds {
  std::array<std::uint64_t, kDelaySites.size()> at;
};

// Not inlined: a coroutine may resume on another thread, see task/context.hpp.
[[gnu::noinline]] inline void planted_delay(DelaySite site) noexcept {
  std::uint64_t& owed = base::of_this_thread<OwedRounds>().at[static_cast<std::size_t>(site)];
  owed += planted_rounds[static_cast<std::size_t>(site)];
  if (owed < kLeastRounds) return;
  spend_rounds(owed);
  owed = 0;
}

#else

constexpr void planted_delay(DelaySite) noexcept {}

#endif

}  // namespace trace
}  // namespace taskbench::rt
