// The answer of `taskbench ladder` as JSON: docs/schema/ladder-v1.schema.json.
#pragma once

#include <string>

#include "reports/model/ladder.hpp"

namespace taskbench::reports::json {

[[nodiscard]] std::string to_json(const model::Ladder& ladder);

}  // namespace taskbench::reports::json
