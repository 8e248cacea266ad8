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

/// Reads such a file's text. Throws ReadError (parse.hpp) if it is of another kind; what() names
/// the file, `path`, and says what to do.
[[nodiscard]] model::NoiseCalibration parse_noise(const std::filesystem::path& path,
                                                  std::string_view text);

}  // namespace taskbench::reports::json
