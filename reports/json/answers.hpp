// The answers of commands as JSON: each ends with a newline, and what is not known is null.
#pragma once

#include <string>
#include <vector>

#include "reports/model/doctor.hpp"
#include "reports/verdict/baseline.hpp"
#include "reports/verdict/file_columns.hpp"
#include "reports/verdict/files.hpp"
#include "reports/verdict/ladder.hpp"

namespace taskbench::reports::json {

/// The answer of `taskbench compare`.
[[nodiscard]] std::string to_json(const verdict::FilesReport& report);
[[nodiscard]] std::string to_json(const verdict::ColumnsReport& report);

/// The answer of `taskbench baseline compare`: its result, or why there is nothing to judge.
[[nodiscard]] std::string to_json(const verdict::BaselineComparison& comparison);
[[nodiscard]] std::string to_json(const verdict::BaselineFailure& failure);

/// The answers of `taskbench baseline list` and `show`.
[[nodiscard]] std::string to_json(const std::vector<verdict::StoredBaseline>& list);
[[nodiscard]] std::string to_json(const verdict::StoredBaseline& stored);

/// The answer of `taskbench doctor`: docs/schema/doctor-v1.schema.json.
[[nodiscard]] std::string to_json(const model::DoctorReport& report);

/// The answer of `taskbench ladder`: docs/schema/ladder-v1.schema.json.
[[nodiscard]] std::string to_json(const model::Ladder& ladder);

}  // namespace taskbench::reports::json
