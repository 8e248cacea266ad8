// Where a machine's noise is kept, beside the baselines, and which noise floors a trial is judged
// by.
#pragma once

#include <map>

#include "cli/names.hpp"
#include "reports/model/machine_key.hpp"
#include "reports/model/paired.hpp"

namespace taskbench::cli {

/// <store>/<machine key>.noise.json
[[nodiscard]] fs::path noise_file(const fs::path& store, const model::MachineKey& key);

/// A floor for each benchmark: what was calibrated on the machine of this key, or an assumption;
/// `source` says which, and whether the calibration is old. `today` is RFC 3339. Throws UsageError
/// for a calibration that cannot be read.
[[nodiscard]] std::map<std::string, model::NoiseFloor> noise_floors(const fs::path& store,
                                                                    const model::MachineKey& key,
                                                                    const Strings& benchmarks,
                                                                    std::string_view today);

}  // namespace taskbench::cli
