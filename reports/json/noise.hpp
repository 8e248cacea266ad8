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

/// Throws ReadError (reader.hpp) for a file that cannot be read or is not of this kind; what()
/// names it and says what to do.
[[nodiscard]] model::NoiseCalibration read_noise(const std::filesystem::path& path);

}  // namespace taskbench::reports::json
