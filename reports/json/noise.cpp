#include "reports/json/field.hpp"
#include "reports/json/reader.hpp"
#include "reports/json/writer.hpp"

namespace taskbench::reports::json {

/// Describes the trials without their date, which is elsewhere.
template <class Io, class Origin>
void describe_trials(Io& io, Origin& origin) {
  io("copies", origin.copies);
  io("blocks", origin.blocks);
  io("block_s", origin.block_s, is_not_negative);
  io.since("copies_checked", origin.checked);
}

template <class Io, Like<model::NoiseOrigin> Origin>
void describe(Io& io, Origin& origin) {
  io("date", origin.date);
  describe_trials(io, origin);
}

template <class Io, Like<model::BenchmarkNoise> Noise>
void describe(Io& io, Noise& noise) {
  io("epsilon", noise.epsilon, is_not_negative);
  io("deviation", noise.deviation, is_not_negative);
  io("effects", noise.effects);
  io("levels", noise.levels);
  io.unless_default("earlier", noise.earlier);
}

namespace {

constexpr const char* kVersionKey = "taskbench_noise";

model::NoiseCalibration noise_from(const Field& document) {
  is_version(document.at(kVersionKey), model::kNoiseVersion, model::kNoiseVersion);
  model::NoiseCalibration noise;
  document.at("date").get_to(noise.date);
  for (const auto& [name, value] : document.at("machine").members()) {
    noise.machine.push_back({name, value.get<std::optional<std::string>>().value_or("")});
  }
  Reader reader(document);
  describe_trials(reader, noise);
  for (const Field& row : document.at("benchmarks").elements()) {
    row.get_to(noise.benchmarks[row.at("name").get<std::string>()]);
  }
  return noise;
}

}  // namespace

std::string to_json(const model::NoiseCalibration& noise) {
  Writer io;
  io.version(kVersionKey, model::kNoiseVersion, model::kNoiseVersion);
  io("date", noise.date);
  io.part("machine", [&](Writer& part) {
    for (const auto& field : noise.machine) part.or_null(field.name, field.value);
  });
  describe_trials(io, noise);
  io.each("benchmarks", noise.benchmarks, [](Writer& row, const auto& each) {
    row("name", each.first);
    describe(row, each.second);
  });
  return file_text(io.object);
}

model::NoiseCalibration merged(model::NoiseCalibration now, const model::NoiseCalibration& before) {
  if (now.machine != before.machine) return now;
  for (const auto& [name, noise] : before.benchmarks) {
    const auto [place, is_new] = now.benchmarks.try_emplace(name, noise);
    if (is_new && !place->second.earlier)
      place->second.earlier = static_cast<const model::NoiseOrigin&>(before);
  }
  return now;
}

model::NoiseCalibration parse_noise(const std::filesystem::path& path, std::string_view text) {
  return read_file_text(path, text, "not a calibration of this version: ",
                        "remove it, or measure again with `taskbench calibrate`", noise_from);
}

}  // namespace taskbench::reports::json
