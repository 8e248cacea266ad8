// The answer of `taskbench doctor` as JSON: docs/schema/doctor-v1.schema.json.
#pragma once

#include <string>

#include "reports/model/doctor.hpp"

namespace taskbench::reports::json {

[[nodiscard]] std::string to_json(const model::DoctorReport& report);

}  // namespace taskbench::reports::json
