// Reads the files that taskbench and other programs left on the disk: results, baselines,
// calibrations, and journals. Each function throws what the matching parser in reports/json throws,
// also for a file that cannot be read.
#pragma once

#include "harness/files/names.hpp"
#include "reports/json/reader.hpp"
#include "reports/model/baseline.hpp"
#include "reports/model/noise.hpp"
#include "reports/model/paired.hpp"
#include "reports/model/run.hpp"

namespace taskbench::harness {

/// The content of a result file. Throws json::ReadError if it does not exist, cannot be read, or is
/// larger than json::kMaxResultBytes.
[[nodiscard]] std::string read_result_text(const fs::path& path);

[[nodiscard]] model::Run read_result_file(
    const fs::path& path, json::UnusableRows unusable = json::UnusableRows::refused);

/// The samples that Criterion left in a folder, at any depth. Throws json::ReadError, also for a
/// folder without samples.
[[nodiscard]] model::Run read_criterion(const fs::path& folder);

/// A result of any tool that reports/tools knows: a file, or a folder written by Criterion.
[[nodiscard]] model::Run read_any_result(const fs::path& path);

[[nodiscard]] model::Series read_baseline(const fs::path& path);

[[nodiscard]] model::NoiseCalibration read_noise(const fs::path& path);

[[nodiscard]] model::Series read_series_journal(const fs::path& path);

[[nodiscard]] model::PairedTrial read_journal(const fs::path& path);

}  // namespace taskbench::harness
