#include "cli/options/process_options.hpp"

#include "cli/options/run_plan.hpp"

namespace taskbench::cli {
namespace {

constexpr double kMinTimeout_s = 0.1;
constexpr double kMaxTimeout_s = 24 * 3600;

}  // namespace

void ProcessOptions::declare(Options& options) {
  options.group("How to measure");
  options.value("--repetitions", repetitions_, "N", Number{1, kMaxRepetitions},
                "Repetitions of each benchmark in each process.");
  options.value("--min-time", min_time_s_, "TIME", Duration{kMinMinTimeS, kMaxMinTimeS},
                "Shortest duration of a repetition.");
  declare_timeout(options);
  options.value("--seed", seed_, "N", Number{0, kMaxSeed}, "Seed of all that is drawn.");
}

void ProcessOptions::declare_timeout(Options& options) {
  options.group("How to measure");
  options.value("--timeout", timeout_s_, "TIME", Duration{kMinTimeout_s, kMaxTimeout_s},
                "A process that takes longer is killed, and counts as failed.");
}

}  // namespace taskbench::cli
