// The file of a machine's noise: docs/schema/noise-v1.schema.json.
#pragma once

#include <filesystem>
#include <string>

#include "reports/model/noise.hpp"

namespace taskbench::reports::json {

[[nodiscard]] std::string to_json(const model::NoiseCalibration& noise);

/// `now`, completed by the benchmarks that only `before` has. Benchmarks of another machine are
/// dropped.
[[nodiscard]] model::NoiseCalibration merged(model::NoiseCalibration now,
                                             const model::NoiseCalibration& before);

/// Reads such a file. Throws ReadError (reader.hpp) if it cannot be read or is of another kind;
/// what() names it and says what to do.
[[nodiscard]] model::NoiseCalibration read_noise(const std::filesystem::path& path);

}  // namespace taskbench::reports::json
