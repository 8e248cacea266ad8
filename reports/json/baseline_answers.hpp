// The answers of `taskbench baseline` as JSON.
#pragma once

#include <string>
#include <vector>

#include "reports/verdict/baseline.hpp"

namespace taskbench::reports::json {

/// Of `compare`: what came of it, or why there is nothing to judge.
[[nodiscard]] std::string to_json(const verdict::BaselineComparison& comparison);
[[nodiscard]] std::string to_json(const verdict::BaselineFailure& failure);

/// Of `list` and `show`.
[[nodiscard]] std::string to_json(const std::vector<verdict::StoredBaseline>& list);
[[nodiscard]] std::string to_json(const verdict::StoredBaseline& stored);

}  // namespace taskbench::reports::json
