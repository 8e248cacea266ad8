// Where a machine's noise is kept, beside the baselines, and which noise floors a trial is judged
// by.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/machine_key.hpp"
#include "reports/model/paired.hpp"

namespace taskbench::cli {

/// <store>/<machine key>.noise.json
[[nodiscard]] std::filesystem::path noise_file(const std::filesystem::path& store,
                                               const reports::model::MachineKey& key);

/// A floor for each benchmark: what was calibrated on the machine of this key, or an assumption;
/// `source` says which, and whether the calibration is old. `today` is RFC 3339. Throws UsageError
/// for a calibration that cannot be read.
[[nodiscard]] std::map<std::string, reports::model::NoiseFloor> noise_floors(
    const std::filesystem::path& store, const reports::model::MachineKey& key,
    const std::vector<std::string>& benchmarks, std::string_view today);

}  // namespace taskbench::cli
