// The drift of the machine as an object of a result file.
#pragma once

#include <nlohmann/json.hpp>

#include "reports/model/drift.hpp"

namespace taskbench::reports::json {

/// Each quantity, null where it is unknown; "reasons" says why for each null, and "moved" names
/// those that moved by more than their threshold (reports/verdict/drift.hpp).
[[nodiscard]] nlohmann::ordered_json drift_object(const model::Drift& drift);

/// Reads what drift_object() has written, except for the reasons. Anything that is no number is
/// unknown.
[[nodiscard]] model::Drift drift_from(const nlohmann::ordered_json& object);

}  // namespace taskbench::reports::json
