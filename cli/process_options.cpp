#include "cli/process_options.hpp"

#include <fmt/format.h>

#include <limits>

#include "cli/option_values.hpp"
#include "cli/run_plan.hpp"
#include "cli/values.hpp"
#include "reports/model/paired.hpp"

namespace taskbench::cli {
namespace {

constexpr std::uint64_t kDefaultSeed = 1;
/// Of --repetitions and --min-time: what reports leave out of the command that reproduces them.
const reports::model::PairedSetup kDefaults;
constexpr double kMinTimeout_s = 0.1;
constexpr double kMaxTimeout_s = 24 * 3600;
constexpr const char* kGroup = "How to measure";

}  // namespace

void ProcessOptions::declare(CLI::App& app) {
  add_valued(app, "--repetitions", repetitions_, "N",
             "Repetitions of each benchmark in each process.")
      ->default_str(std::to_string(kDefaults.repetitions))
      ->group(kGroup);
  add_valued(app, "--min-time", min_time_, "TIME", "Shortest duration of a repetition.")
      ->default_str(fmt::format("{:g}s", kDefaults.min_time_s))
      ->group(kGroup);
  declare_timeout(app);
  add_valued(app, "--seed", seed_, "N", "Seed of all that is drawn.")
      ->default_str(std::to_string(kDefaultSeed))
      ->group(kGroup);
}

void ProcessOptions::declare_timeout(CLI::App& app) {
  add_valued(app, "--timeout", timeout_, "TIME",
             "A process that takes longer is killed, and counts as failed.")
      ->default_str(fmt::format("{:g}m", kDefaultProcessTimeout_s / 60))
      ->group(kGroup);
}

double ProcessOptions::timeout_s() const {
  const auto text = parse_single("--timeout", timeout_);
  return text ? parse_duration_s("--timeout", *text, kMinTimeout_s, kMaxTimeout_s)
              : kDefaultProcessTimeout_s;
}

std::vector<std::string_view> ProcessOptions::given() const {
  std::vector<std::string_view> names;
  if (!repetitions_.empty()) names.emplace_back("--repetitions");
  if (!min_time_.empty()) names.emplace_back("--min-time");
  if (!seed_.empty()) names.emplace_back("--seed");
  return names;
}

std::uint64_t ProcessOptions::seed() const {
  const auto text = parse_single("--seed", seed_);
  if (!text) return kDefaultSeed;
  return parse_whole_number("--seed", *text, 0, std::numeric_limits<std::uint64_t>::max());
}

std::int64_t ProcessOptions::repetitions() const {
  const auto text = parse_single("--repetitions", repetitions_);
  if (!text) return kDefaults.repetitions;
  return static_cast<std::int64_t>(parse_whole_number("--repetitions", *text, 1, kMaxRepetitions));
}

double ProcessOptions::min_time_s() const {
  const auto text = parse_single("--min-time", min_time_);
  if (!text) return kDefaults.min_time_s;
  return parse_duration_s("--min-time", *text, kMinMinTimeS, kMaxMinTimeS);
}

}  // namespace taskbench::cli
