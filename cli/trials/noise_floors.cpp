#include "cli/trials/noise_floors.hpp"

#include <chrono>

#include "reports/json/noise.hpp"
#include "reports/json/reader.hpp"
#include "reports/model/date.hpp"

namespace taskbench::cli {
namespace {

// Two builds of the same sources differ by about so much through nothing but the places of their
// functions. Not measured here: taken from experience on several machines.
constexpr double kAssumed = 0.01;
constexpr std::chrono::days kOld{90};

std::string origin(const model::NoiseOrigin& from, std::string_view today) {
  std::string text = fmt::format("calibrated {}", model::day_of(from.date));
  if (!from.checked) text += " with programs that were not checked to be copies of one build";
  const auto then = model::instant_of(from.date);
  const auto now = model::instant_of(today);
  if (then && now && *now - *then > kOld) {
    text += fmt::format(", {} days ago: measure it again with taskbench calibrate",
                        std::chrono::floor<std::chrono::days>(*now - *then).count());
  }
  return text;
}

model::NoiseFloor assumed(std::string_view why) {
  return {kAssumed, fmt::format("assumed: {}", why)};
}

}  // namespace

fs::path noise_file(const fs::path& store, const model::MachineKey& key) {
  return store / (machine_key(key) + ".noise.json");
}

std::map<std::string, model::NoiseFloor> noise_floors(const fs::path& store,
                                                      const model::MachineKey& key,
                                                      const Strings& benchmarks,
                                                      std::string_view today) {
  const fs::path file = noise_file(store, key);
  std::error_code ignored;
  std::optional<model::NoiseCalibration> noise;
  if (fs::exists(file, ignored)) {
    try {
      noise = json::read_noise(file);
    } catch (const json::ReadError& error) {
      throw UsageError(error.what());
    }
  }
  std::map<std::string, model::NoiseFloor> floors;
  for (const std::string& name : benchmarks) {
    if (!noise) {
      floors[name] = assumed("taskbench calibrate has not been run on this machine");
    } else if (const auto found = noise->benchmarks.find(name); found == noise->benchmarks.end()) {
      floors[name] = assumed(fmt::format("the calibration has no {}", name));
    } else {
      const auto& earlier = found->second.earlier;
      floors[name] = {found->second.epsilon, origin(earlier ? *earlier : *noise, today)};
    }
  }
  return floors;
}

}  // namespace taskbench::cli
