// One run of the simulation: a workload on a pool of so many workers.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "tests/simulation/costs.hpp"

namespace sim {

struct Experiment {
  std::string_view workload = "balanced";  ///< the name of one of workloads()
  std::uint32_t workers = 2;
  Ns task_ns = 1'000;  ///< how long each task works
  std::uint64_t seed = 1;
  std::uint32_t iterations = 1;  ///< the first of several is a warm-up
  Costs costs{};
  Topology topology{};
  Changes changes{};
};

/// The rate and the shares are those of the middle half of the tasks, when all workers are awake:
/// from when a quarter has ended until three quarters have.
struct Outcome {
  Ns time = 0;      ///< from the first spawn until the last task has ended, of each iteration
  double rate = 0;  ///< tasks, or yields, in a microsecond
  Spent shares{};   ///< of the workers' time; their sum is 1, but for where the half is cut out
  std::uint64_t heavy_fences = 0;
  std::uint64_t steals = 0;
  std::uint64_t parks = 0;
  std::array<std::uint64_t, kDistances> thefts{};  ///< of the whole run, by how far they went
};

struct WorkloadRow {
  std::string_view name;
  std::string_view what;
};
[[nodiscard]] std::span<const WorkloadRow> workloads();

/// The same experiment has the same outcome. The workload is one of workloads().
[[nodiscard]] Outcome simulate(const Experiment& experiment);

/// What docs/performance.md has measured: microseconds with one worker and with two. spawn_local
/// takes either of two times there with two, for seconds on end; this is the shorter.
struct Measured {
  std::string_view workload;
  double one_us;
  double two_us;
};
inline constexpr std::array kMeasured{Measured{"spawn_local", 350, 300},
                                      Measured{"spawn_many", 569, 636},
                                      Measured{"yield_many", 1'288, 853}};

}  // namespace sim
