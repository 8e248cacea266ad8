// Turns the arguments of `taskbench run` into a plan, or refuses them before anything is measured.
#pragma once

#include <cstdint>
#include <map>

#include "cli/options/options.hpp"
#include "cli/output/names.hpp"
#include "harness/bench/wrk.hpp"
#include "harness/counting/run_plan.hpp"

namespace taskbench::cli {

/// Limit on the workers of all cases together. All cases are prepared before the first is measured,
/// so all workers exist at once. Each takes two of the 65,530 memory areas that Linux lets a
/// process map by default (its stack, and the guard below it), and one of 32,768 process numbers.
inline constexpr std::uint64_t kMaxWorkersInAll = 30'000;
inline constexpr std::uint64_t kMaxCases = 1000;
/// Limit on the repetitions of all cases together: each is kept, with its counters, until the
/// result is written.
inline constexpr std::uint64_t kMaxRepetitionsInAll = 1'000'000;
inline constexpr unsigned kMaxRepetitions = 10'000;
inline constexpr std::uint64_t kMaxIterations = 1'000'000'000;  ///< Google Benchmark's limit
inline constexpr double kMinMinTimeS = 1e-4;  ///< shorter repetitions would measure the clock
inline constexpr double kMaxMinTimeS = 3600;
inline constexpr double kMinTimeBudgetS = 0.1;
inline constexpr double kMaxTimeBudgetS = 24 * 3600;

/// A load generator for --load. Both functions throw workloads::LoadError.
struct Loader {
  std::string_view name;
  std::string (*version)();
  std::optional<workloads::LoadReport> (*run)(const workloads::LoadRun&, const std::stop_token&);
};
inline constexpr Loader kLoaders[] = {{"wrk", wrk_version, run_wrk}};

/// The options of `taskbench run`. Options whose meaning depends on others are kept as given; the
/// rest is in `plan`.
struct RunArguments {
  Strings words;  ///< WORKLOAD, and NAME=VALUE, short for --param
  std::vector<const Scheduler*> schedulers{&harness::schedulers().front()};
  std::vector<unsigned> workers;  ///< empty: the number of CPUs
  Strings parameters;
  std::optional<std::string> filter;
  ProgramRun program;  ///< --program; without a command: workloads or commands are measured
  Strings benchmarks;  ///< of the program: --workload, as given
  bool repetitions_are_given = false;
  Strings commands;  ///< --command, as given; none: workloads are measured
  /// For each command: the commands before and after it, as given, and its input.
  std::string setup;
  std::string prepare;
  std::string conclude;
  fs::path input;   ///< empty: nothing
  fs::path output;  ///< "inherit": this process's; empty: nowhere
  bool may_fail = false;
  double timeout_s = 0;  ///< of each run of a command, or each process; 0: not given
  std::optional<double> min_time_s;
  const Loader* loader = nullptr;  ///< none: the workloads' own clients
  RunPlan plan;
};

/// Turns arguments into a plan. `cpus` is the number of CPUs that the process may use. Accesses no
/// files. Throws UsageError for requests that cannot be met.
[[nodiscard]] RunPlan plan_run(const RunArguments& arguments, unsigned cpus);

/// Plans a run for a command that takes only one case; `noun` names its result: "trace".
[[nodiscard]] RunPlan plan_one_case(const RunArguments& arguments, unsigned cpus,
                                    std::string_view noun);

/// Declares the options that choose a case, for commands that run only one: WORKLOAD, --scheduler,
/// --workers and --param. They are in the group "What to `verb`".
void declare_one_case(Options& options, RunArguments& arguments, std::string_view verb);

/// The values that shells complete after --param.
[[nodiscard]] OptionValues offered_parameters();

/// Parses PLACE=NS.
[[nodiscard]] std::vector<PlantedDelay> parse_plants(std::string_view option, const Strings& given);

/// Parses CASE=N; plan_run() checks whether there is such a case.
[[nodiscard]] std::map<std::string, std::int64_t> parse_iterations(std::string_view option,
                                                                   const Strings& given);

}  // namespace taskbench::cli
