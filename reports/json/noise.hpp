// The file of a machine's noise: docs/schema/noise-v1.schema.json.
#pragma once

#include <filesystem>
#include <string>

#include "reports/model/noise.hpp"

namespace taskbench::reports::json {

[[nodiscard]] std::string to_json(const model::NoiseCalibration& noise);

/// `now`, with those benchmarks of `before` that it does not have. Nothing of another machine.
[[nodiscard]] model::NoiseCalibration merged(model::NoiseCalibration now,
                                             const model::NoiseCalibration& before);

/// Throws ReadError (reader.hpp) for a text that is not of this kind; what() names its file,
/// `path`, and says what to do.
[[nodiscard]] model::NoiseCalibration parse_noise(const std::filesystem::path& path,
                                                  std::string_view text);

}  // namespace taskbench::reports::json
