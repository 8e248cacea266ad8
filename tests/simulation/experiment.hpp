// One run of the simulation: a workload on a pool with a given number of workers.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "tests/simulation/costs.hpp"

namespace sim {

struct Experiment {
  std::string_view workload = "balanced";  ///< one of workloads()
  std::uint32_t workers = 2;
  Ns task_ns = 1'000;  ///< how long each task works
  std::uint64_t seed = 1;
  std::uint32_t iterations = 1;  ///< if there are several, the first is a warm-up
  Costs costs{};
  Topology topology{};
  Changes changes{};
};

/// The rate and the shares are taken over the middle half of the tasks, while all workers are
/// awake: from the end of the first quarter to the end of the third.
struct Outcome {
  Ns time = 0;      ///< of an iteration, from the first spawn until the last task has ended
  double rate = 0;  ///< tasks, or yields, per microsecond
  Spent shares{};   ///< of the workers' time; they sum to about 1
  std::uint64_t heavy_fences = 0;
  std::uint64_t steals = 0;
  std::uint64_t parks = 0;
  std::array<std::uint64_t, kDistances> thefts{};  ///< of the whole run, by distance
};

struct WorkloadRow {
  std::string_view name;
  std::string_view what;
};
[[nodiscard]] std::span<const WorkloadRow> workloads();

/// The same experiment always has the same outcome. The workload must be one of workloads().
[[nodiscard]] Outcome simulate(const Experiment& experiment);

/// The measurements in docs/performance.md: microseconds with one worker and with two. There,
/// spawn_local with two workers takes one of two times, for seconds on end; this is the shorter.
struct Measured {
  std::string_view workload;
  double one_us;
  double two_us;
};
inline constexpr std::array kMeasured{Measured{"spawn_local", 350, 300},
                                      Measured{"spawn_many", 569, 636},
                                      Measured{"yield_many", 1'288, 853}};

}  // namespace sim
