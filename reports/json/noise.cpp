#include "reports/json/noise.hpp"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "reports/json/reader.hpp"

namespace taskbench::reports::json {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kVersionKey = "taskbench_noise";

double finite(const Json& value) {
  const auto number = value.get<double>();
  if (!std::isfinite(number) || number < 0) throw std::runtime_error("a number is out of range");
  return number;
}

model::NoiseCalibration noise_from(const Json& document) {
  if (document.at(kVersionKey).get<int>() != model::kNoiseVersion) {
    throw std::runtime_error("it is of another version");
  }
  model::NoiseCalibration noise;
  document.at("date").get_to(noise.date);
  for (const auto& [name, value] : document.at("machine").items()) {
    noise.machine.push_back({name, value.is_null() ? "" : value.get<std::string>()});
  }
  document.at("copies").get_to(noise.copies);
  document.at("blocks").get_to(noise.blocks);
  noise.block_s = finite(document.at("block_s"));
  for (const Json& row : document.at("benchmarks")) {
    model::BenchmarkNoise& each = noise.benchmarks[row.at("name").get<std::string>()];
    each.epsilon = finite(row.at("epsilon"));
    each.deviation = finite(row.at("deviation"));
    row.at("effects").get_to(each.effects);
    row.at("levels").get_to(each.levels);
  }
  return noise;
}

}  // namespace

std::string to_json(const model::NoiseCalibration& noise) {
  Json machine = Json::object();
  for (const auto& field : noise.machine) {
    machine[field.name] = field.value.empty() ? Json(nullptr) : Json(field.value);
  }
  Json benchmarks = Json::array();
  for (const auto& [name, each] : noise.benchmarks) {
    benchmarks.push_back({{"name", name},
                          {"epsilon", each.epsilon},
                          {"deviation", each.deviation},
                          {"effects", each.effects},
                          {"levels", each.levels}});
  }
  const Json document{{kVersionKey, model::kNoiseVersion},
                      {"date", noise.date},
                      {"machine", std::move(machine)},
                      {"copies", noise.copies},
                      {"blocks", noise.blocks},
                      {"block_s", noise.block_s},
                      {"benchmarks", std::move(benchmarks)}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

model::NoiseCalibration read_noise(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  try {
    if (!file) throw std::runtime_error("it cannot be read");
    return noise_from(Json::parse(content));
  } catch (const std::exception& error) {
    throw ReadError(fmt::format(
        "{}: no calibration of this version: {}; remove it, or measure anew by taskbench calibrate",
        path.string(), error.what()));
  }
}

}  // namespace taskbench::reports::json
