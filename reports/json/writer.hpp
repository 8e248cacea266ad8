// The answers of commands, as JSON.
//
// A run is written so that every reader of Google Benchmark's output accepts it. Both of its files
// contain Google Benchmark's "context" and "benchmarks", and our data under the single top-level
// key "taskbench", which docs/schema/run-v1.schema.json describes. All times are in ns; there is no
// NaN and no Infinity; a failed case has no row and appears only under "taskbench". Both end with a
// newline.
#pragma once

#include <string>

#include "reports/model/doctor.hpp"
#include "reports/model/ladder.hpp"
#include "reports/model/noise.hpp"
#include "reports/model/run.hpp"
#include "reports/verdict/file_columns.hpp"
#include "reports/verdict/files.hpp"

namespace taskbench::reports::json {

/// A strict superset of Google Benchmark's JSON: every repetition, then mean, median, stddev and cv
/// of each case.
[[nodiscard]] std::string to_json(const model::Run& run);

/// A row for each case, its median, under the plain case name: for readers that want no duplicates.
[[nodiscard]] std::string to_flat_json(const model::Run& run);

/// The answer of `taskbench doctor`: docs/schema/doctor-v1.schema.json.
[[nodiscard]] std::string to_json(const model::DoctorReport& report);

/// The answers of `taskbench compare`.
[[nodiscard]] std::string to_json(const verdict::FilesReport& report);
[[nodiscard]] std::string to_json(const verdict::ColumnsReport& report);

/// The answer of `taskbench ladder`: docs/schema/ladder-v1.schema.json.
[[nodiscard]] std::string to_json(model::Ladder ladder);

/// The answer of `taskbench calibrate`, a machine's noise, and its file:
/// docs/schema/noise-v1.schema.json.
[[nodiscard]] std::string to_json(const model::NoiseCalibration& noise);

}  // namespace taskbench::reports::json
