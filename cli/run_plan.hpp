// From the arguments of `taskbench run` to what will be measured, or a refusal before anything is.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/counter_events.hpp"
#include "cli/output_formats.hpp"
#include "runtime/trace/planted_delay.hpp"
#include "workloads/measure/measure.hpp"

namespace taskbench::cli {

/// More workers than any machine has CPUs; each is a thread.
inline constexpr unsigned kMaxWorkers = 4096;
/// All cases are prepared before the first is measured, so that all of their workers exist at once:
/// so many are five workloads of kMaxWorkers, and well below what Linux lets a process map.
inline constexpr std::uint64_t kMaxWorkersInAll = 20'480;
inline constexpr std::uint64_t kMaxCases = 1000;
/// Of all cases together: each is kept, with its counters, until the result is written.
inline constexpr std::uint64_t kMaxRepetitionsInAll = 1'000'000;
inline constexpr unsigned kMaxRepetitions = 10'000;
inline constexpr std::uint64_t kMaxIterations = 1'000'000'000;  ///< Google Benchmark's limit
inline constexpr double kMinMinTimeS = 1e-4;  ///< below this the clock is what is measured
inline constexpr double kMaxMinTimeS = 3600;
inline constexpr double kMinTimeBudgetS = 0.1;
inline constexpr double kMaxTimeBudgetS = 24 * 3600;

/// What the user wrote, option by option, not yet understood.
struct RunArguments {
  std::vector<std::string> workloads;  ///< NAME=VALUE among them counts as one more --param
  std::vector<std::string> schedulers;
  std::vector<std::string> workers;
  std::vector<std::string> repetitions;
  std::vector<std::string> min_time;
  std::vector<std::string> time_budget;
  std::vector<std::string> iterations;
  std::vector<std::string> parameters;
  std::vector<std::string> filter;
  std::vector<std::string> seed;
  std::vector<std::string> plant;
  std::vector<std::string> counters;
  std::vector<std::string> json;
  std::vector<std::string> json_flat;
  std::vector<std::string> report;
  std::vector<std::string> format;
  bool quiet = false;
  bool pin = false;
  bool list = false;
};

/// A delay in the scheduler, in builds that can plant one.
struct PlantedDelay {
  rt::DelaySite site;
  double ns = 0;
};

struct RunPlan {
  std::vector<workloads::measure::Case> cases;
  workloads::measure::Settings settings;
  std::vector<std::string> left_out;  ///< combinations that cannot be, in words
  std::vector<PlantedDelay> planted;
  CounterPlan counters;  ///< of the passes after the timing
  const OutputFormat* format = nullptr;
  std::optional<std::filesystem::path> json;
  std::optional<std::filesystem::path> json_flat;
  std::optional<std::filesystem::path> report;  ///< a folder
  bool quiet = false;
};

/// Throws UsageError for whatever cannot be done as asked. `cpus` is how many CPUs the process may
/// use. Touches no file.
[[nodiscard]] RunPlan plan_run(const RunArguments& arguments, unsigned cpus);

}  // namespace taskbench::cli
