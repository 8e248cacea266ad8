// What the facts of a machine mean for a measurement. Pure functions.
#pragma once

#include <vector>

#include "reports/model/doctor.hpp"

namespace taskbench::reports::verdict {

/// One finding for each check, worst first; equals stand in the order of what they typically do.
[[nodiscard]] std::vector<model::Finding> diagnose(const model::DoctorFacts& facts);

/// Whether a measurement is disturbed: a finding is serious. Moderate ones are not enough, and what
/// is unknown is not held against the machine.
[[nodiscard]] bool is_disturbed(const std::vector<model::Finding>& findings);

}  // namespace taskbench::reports::verdict
