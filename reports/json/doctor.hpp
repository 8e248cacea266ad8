// The findings of `taskbench doctor` as a file: docs/schema/doctor-v1.schema.json.
#pragma once

#include <string>

#include "reports/model/doctor.hpp"

namespace taskbench::reports::json {

/// Ends with a newline. What is unknown is null, with the reason beside it.
[[nodiscard]] std::string to_json(const model::DoctorReport& report);

}  // namespace taskbench::reports::json
