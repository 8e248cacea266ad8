// The noise floor of times that a program prints with few digits. Pure.
#pragma once

#include <optional>

#include "reports/model/paired.hpp"

namespace taskbench::reports::verdict {

/// The noise floor that the last digit means: a change as great may be rounded away, or made up.
/// `step_ns` is one more of that digit (model::Case), `least_ns` the shortest of the times. Empty
/// if the step is not known.
[[nodiscard]] std::optional<model::NoiseFloor> floor_of_digits(double step_ns, double least_ns);

/// Raises a floor to that of the digits, if that is higher.
void raise_to_digits(const model::NoiseFloor& of_digits, model::NoiseFloor& floor);

}  // namespace taskbench::reports::verdict
