// The rows under "benchmarks": the part of a result file that Google Benchmark's readers take.
#pragma once

#include <nlohmann/json.hpp>

#include "reports/model/run.hpp"

namespace taskbench::reports::json {

/// Every complete repetition of every case that did not fail, each case's followed by its mean,
/// median, stddev and cv; no aggregates over a single repetition, as with Google Benchmark.
[[nodiscard]] nlohmann::ordered_json repetition_rows(const model::Run& run);

/// One row a case, its medians, labelled with the number of repetitions.
[[nodiscard]] nlohmann::ordered_json median_rows(const model::Run& run);

}  // namespace taskbench::reports::json
