// Helpers with which readers of other tools' results fill a run.
#pragma once

#include <optional>
#include <string_view>

#include "reports/model/run.hpp"

namespace taskbench::reports::tools {

/// The case of that name; a new one is added at the end if there is none.
[[nodiscard]] model::Case& case_of(model::Run& run, std::string_view name);

/// Adds a repetition, and sets its index. If its time is not above 0, or not finite, the benchmark
/// is unusable.
void add_time(model::Case& benchmark, model::Repetition repetition);

/// Number of ns in a unit of time, by its name: "ns", "us", "µs", "ms", "s".
[[nodiscard]] std::optional<double> ns_in(std::string_view unit);

}  // namespace taskbench::reports::tools
