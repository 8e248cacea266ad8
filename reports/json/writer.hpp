// Writes a run as JSON that every reader of Google Benchmark's output accepts.
//
// Both files hold Google Benchmark's "context" and "benchmarks", and ours under the one top-level
// key "taskbench", which docs/schema/run-v1.schema.json describes. All times are in ns; there is no
// NaN and no Infinity; a failed case has no row and appears only under "taskbench". Both end with a
// newline.
#pragma once

#include <string>

#include "reports/model/run.hpp"

namespace taskbench::reports::json {

/// A strict superset of Google Benchmark's JSON: every repetition, then mean, median, stddev and cv
/// of each case.
[[nodiscard]] std::string to_json(const model::Run& run);

/// A row for each case, its median, under the plain case name: for readers that want no duplicates.
[[nodiscard]] std::string to_flat_json(const model::Run& run);

}  // namespace taskbench::reports::json
