#include "reports/json/noise.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "reports/json/field.hpp"
#include "reports/json/file_content.hpp"
#include "reports/json/nulls.hpp"
#include "reports/json/parse.hpp"
#include "reports/json/reader.hpp"

namespace taskbench::reports::json {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kVersionKey = "taskbench_noise";

void read_origin(const Field& object, model::NoiseOrigin& origin) {
  object.at("date").get_to(origin.date);
  object.at("copies").get_to(origin.copies);
  object.at("blocks").get_to(origin.blocks);
  origin.block_s = object.at("block_s").not_negative();
  origin.checked = object.value("copies_checked", false);  // of before it was asked: not known
}

Json to_json(const model::NoiseOrigin& origin) {
  return {{"date", origin.date},
          {"copies", origin.copies},
          {"blocks", origin.blocks},
          {"block_s", origin.block_s},
          {"copies_checked", origin.checked}};
}

model::NoiseCalibration noise_from(const Field& document) {
  if (document.at(std::string(kVersionKey)).get<int>() != model::kNoiseVersion) {
    throw std::runtime_error("it is of another version");
  }
  model::NoiseCalibration noise;
  read_origin(document, noise);
  for (const auto& [name, value] : document.at("machine").members()) {
    noise.machine.push_back({name, value.text_or_empty()});
  }
  for (const Field& row : document.at("benchmarks").elements()) {
    model::BenchmarkNoise& each = noise.benchmarks[row.at("name").get<std::string>()];
    each.epsilon = row.at("epsilon").not_negative();
    each.deviation = row.at("deviation").not_negative();
    row.at("effects").get_to(each.effects);
    row.at("levels").get_to(each.levels);
    if (row.contains("earlier")) read_origin(row.at("earlier"), each.earlier.emplace());
  }
  return noise;
}

}  // namespace

std::string to_json(const model::NoiseCalibration& noise) {
  Json machine = Json::object();
  for (const auto& field : noise.machine) {
    machine[field.name] = text_or_null(field.value);
  }
  Json benchmarks = Json::array();
  for (const auto& [name, each] : noise.benchmarks) {
    benchmarks.push_back({{"name", name},
                          {"epsilon", each.epsilon},
                          {"deviation", each.deviation},
                          {"effects", each.effects},
                          {"levels", each.levels}});
    if (each.earlier) benchmarks.back()["earlier"] = to_json(*each.earlier);
  }
  const Json document{{kVersionKey, model::kNoiseVersion},
                      {"date", noise.date},
                      {"machine", std::move(machine)},
                      {"copies", noise.copies},
                      {"blocks", noise.blocks},
                      {"block_s", noise.block_s},
                      {"copies_checked", noise.checked},
                      {"benchmarks", std::move(benchmarks)}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
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

model::NoiseCalibration read_noise(const std::filesystem::path& path) {
  const FileContent content = read_file(path);
  try {
    if (!content.ok()) throw std::runtime_error("it " + content.error);
    const Json document = parse_json(content.bytes);
    return noise_from(Field(document, ""));
  } catch (const std::exception& error) {
    throw ReadError(fmt::format(
        "{}: no calibration of this version: {}; remove it, or measure anew by taskbench calibrate",
        path.string(), error.what()));
  }
}

}  // namespace taskbench::reports::json
