// How readers of other tools' results add what they read to a run.
#pragma once

#include <optional>
#include <string_view>

#include "reports/model/run.hpp"

namespace taskbench::reports::tools {

/// The case of that name; a new one at the end if there is none.
[[nodiscard]] model::Case& case_of(model::Run& run, std::string_view name);

/// Adds a repetition, whose index it sets. If its time is not above 0, or not finite, the benchmark
/// is unusable.
void add_time(model::Case& benchmark, model::Repetition repetition);

/// How many ns a unit of time has, by its name: "ns", "us", "µs", "ms", "s", "min", "hr", "day".
[[nodiscard]] std::optional<double> ns_in(std::string_view unit);

}  // namespace taskbench::reports::tools
