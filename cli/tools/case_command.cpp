#include "cli/tools/case_command.hpp"

namespace taskbench::cli {

Strings case_command(const RunPlan& plan, const measure::Case& spec, double min_time_s,
                     const fs::path& result) {
  Strings words{fs::canonical("/proc/self/exe").string(),
                "run",
                std::string(spec.workload->name),
                "--scheduler",
                std::string(spec.scheduler->name),
                "--workers",
                std::to_string(spec.workers),
                "--repetitions",
                "1",
                "--min-time",
                fmt::format("{:.6f}s", min_time_s),
                "--seed",
                std::to_string(plan.settings.seed),
                "--json",
                result.string(),
                "--quiet"};
  if (plan.settings.pin) words.emplace_back("--pin");
  for (const auto& [name, value] : spec.parameters) {
    words.insert(words.end(), {"--param", fmt::format("{}={}", name, value)});
  }
  for (const PlantedDelay& each : plan.planted) {
    const auto site = rt::kDelaySites[static_cast<std::size_t>(each.site)];
    words.insert(words.end(), {"--plant", fmt::format("{}={}", site, each.ns)});
  }
  return words;
}

}  // namespace taskbench::cli
