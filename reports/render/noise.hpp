// A machine's noise as text.
#pragma once

#include <string>

#include "reports/model/noise.hpp"
#include "reports/render/render.hpp"

namespace taskbench::reports::render {

/// A row for each benchmark: its noise floor, how much a block differs from the next, and what a
/// trial of so many minutes would see, for the chance of a false alarm and the smallest change that
/// matters which `taskbench ab` has by default. UTF-8; ends with a newline.
[[nodiscard]] std::string table(const model::NoiseCalibration& noise, const TableStyle& style);

}  // namespace taskbench::reports::render
