// The findings of `taskbench doctor` as text.
#pragma once

#include <string>

#include "reports/model/doctor.hpp"
#include "reports/render/render.hpp"

namespace taskbench::reports::render {

/// What disturbs, worst first, with what mends it; what is not known; what is in order; the floor;
/// and what an operation of each workload costs beside it. UTF-8; ends with a newline.
[[nodiscard]] std::string table(const model::DoctorReport& report, const TableStyle& style);

}  // namespace taskbench::reports::render
